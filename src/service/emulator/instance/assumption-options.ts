import { z } from "zod";
import { SignalboxError } from "../../../base/errors.js";
import { describeIssue, helpWithName } from "../../../base/options/option-error.js";
import { parseJson } from "../../../base/text/parse-json.js";

/** A signal is sent within a day, so a longer wait between two attempts has no effect. */
const DAY_SECONDS = 86_400;

/** Splits a list of seconds. An empty text has none. */
export const secondsIn = (text: string): number[] =>
  text === "" ? [] : text.split(",").map(Number);

const isListOfSeconds = (text: string): boolean =>
  /^(\d+(\.\d+)?(,\d+(\.\d+)?)*)?$/.test(text) &&
  secondsIn(text).every((seconds) => seconds <= DAY_SECONDS);

/**
 * The behaviours that the service's document does not define and that a user could want to test
 * with another value. Change one with `createEmulator({ assumptions: { name: value } })` or
 * `signalbox emulator --assume name=value`. `docs/emulator.md` says why each default is as it is,
 * and lists the assumptions that cannot be changed.
 */
export interface Assumptions {
  /** How long, in real time, the emulator waits for the answer to a delivery. @default 10000 */
  deliveryTimeoutMs: number;
  /** How long an investigation takes. @default 340 */
  investigationSeconds: number;
  /**
   * Whether endpoints can be on loopback addresses of this machine, also with plain HTTP. @default
   * false
   */
  allowLoopbackHttp: boolean;
  /**
   * The seconds to wait after the first failed attempt, after the second, and so on. The end of the
   * list ends the attempts.
   */
  retrySeconds: string;
  /** How many deliveries are sent to one registration at the same time. @default 4 */
  deliveriesInFlight: number;
  /**
   * The failure count at which an active registration is paused. Every 2xx answer sets the count to
   * 0. @default 20
   */
  pauseAfterFailures: number;
  /**
   * Whether the time in signatures is that of the emulator's clock or of the machine's clock.
   * @default "service"
   */
  signatureClock: "service" | "machine";
  /** The id of the first signal. Each later signal has the next number. @default 880001 */
  firstSignalId: number;
}

/** The assumptions that a user changes. */
export type AssumptionOptions = { [Name in keyof Assumptions]?: Assumptions[Name] | undefined };

const LIST = `expected numbers of seconds from 0 to ${DAY_SECONDS}, separated by commas, or an empty text`;

export const assumptionsSchema = z.strictObject({
  deliveryTimeoutMs: wholeNumber(1, 600_000).default(10_000),
  investigationSeconds: wholeNumber(0, 30 * DAY_SECONDS).default(340),
  allowLoopbackHttp: z.boolean().default(false),
  retrySeconds: z.string().refine(isListOfSeconds, LIST).default("10,60,300,1800,7200,21600,43200"),
  deliveriesInFlight: wholeNumber(1, 100).default(4),
  pauseAfterFailures: wholeNumber(1, 1_000_000).default(20),
  signatureClock: z.enum(["service", "machine"]).default("service"),
  firstSignalId: wholeNumber(1, 1_000_000_000).default(880_001),
} satisfies Record<keyof Assumptions, z.ZodType>);

/**
 * Reads a value of `--assume` from the command line. @throws SignalboxError `option_unknown`,
 * `option_invalid`
 */
export function parseAssumption(name: string, text: string): unknown {
  const { shape } = assumptionsSchema;
  const schema = new Map<string, z.ZodType>(Object.entries(shape)).get(name);
  if (schema === undefined) {
    const problem = `--assume has no assumption "${name}".`;
    throw new SignalboxError("option_unknown", problem, helpWithName(name, Object.keys(shape)));
  }
  const json = parseJson(Buffer.from(text));
  const values = [text, ...(json.ok ? [json.value] : [])];
  const value = values.find((each) => schema.safeParse(each).success);
  if (value !== undefined) return value;
  const issue = schema.safeParse(text).error?.issues[0];
  const problem = describeIssue(issue as z.core.$ZodIssue).replace(/^must be /, "expected ");
  throw new SignalboxError(
    "option_invalid",
    `--assume ${name}: ${problem}.`,
    "docs/emulator.md lists all assumptions.",
  );
}

function wholeNumber(least: number, most: number): z.ZodNumber {
  const text = `expected a whole number from ${least} to ${most}`;
  return z.int(text).min(least, text).max(most, text);
}
