import { randomBytes, randomInt } from "node:crypto";
import { statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { nearMiss } from "../../base/options/option-error.js";
import { parseJson } from "../../base/text/parse-json.js";
import { samplesOf, type EventSample } from "../../kit/senders/samples.js";
import { SIGNAL_TYPES } from "../../kit/senders/signals/signal-types.js";
import { shiftTimes, timeOf } from "../../kit/testing/signal-event.js";
import type { Cli } from "../console/cli.js";
import { environmentError, usageError } from "../console/exit.js";
import { readInput } from "../console/options.js";
import { echoed } from "../console/terminal.js";

/**
 * The fixtures of the package. The relative path is the same from `src/cli` and from `dist/cli`.
 */
export const PACKAGED_FIXTURES = fileURLToPath(new URL("../../../fixtures/", import.meta.url));

/**
 * Reads `TYPE|FILE`: the fixture of a type, a file, or stdin for `-`. A type takes precedence over
 * a file of that name.
 */
export async function readEventSource(
  source: string,
  cli: Pick<Cli, "stdin" | "signal">,
): Promise<Buffer> {
  const [, other] = /^(?:webhook\.)?(test|verification)$/.exec(source) ?? [];
  const fixture = (SIGNAL_TYPES as readonly string[]).includes(source)
    ? `signals/${source}`
    : other && `events/webhook.${other}`;
  if (fixture !== undefined) return readInput(`${PACKAGED_FIXTURES}${fixture}.json`, cli);
  if (source === "-" || statSync(source, { throwIfNoEntry: false }) !== undefined)
    return readInput(source, cli);
  if (/[./\\]/.test(source))
    throw environmentError(`cannot read ${echoed(source)}: there is no such file`);
  const meant = nearMiss(source, [...SIGNAL_TYPES, "test", "verification"]);
  const advice =
    meant === undefined
      ? "use a type such as price_increased, test or verification"
      : `did you mean ${meant}?`;
  throw usageError(`"${echoed(source)}" is neither a file nor a signal type; ${advice}`);
}

/** @throws CliError for bytes that are not a JSON object */
export function parseEventSource(bytes: Buffer, source: string): Record<string, unknown> {
  const event = jsonObjectIn(bytes);
  if (event !== null) return event;
  throw usageError(
    `${echoed(source)} contains no JSON object: use --as-is to send its bytes unchanged`,
  );
}

export interface Assignment {
  path: readonly string[];
  value: unknown;
}

/**
 * Reads `path=value` of `--set`. The value is read as JSON if possible, otherwise as text: `5` is a
 * number, `"5"` is text.
 */
export function parseAssignment(text: string): Assignment {
  const equals = text.indexOf("=");
  const path = text.slice(0, Math.max(0, equals)).split(".");
  if (equals < 1 || path.includes("")) {
    throw usageError(
      `--set needs path=value, such as data.product.slug=acme, not "${echoed(text)}"`,
    );
  }
  if (path.includes("__proto__")) throw usageError("--set cannot set __proto__");
  const raw = text.slice(equals + 1);
  const json = parseJson(Buffer.from(raw));
  return { path, value: json.ok ? json.value : raw };
}

/**
 * Copies the event and sets the values. Missing objects are added; a number in a path is the index
 * of an array element.
 */
export function setPaths(
  event: Record<string, unknown>,
  assignments: readonly Assignment[],
): Record<string, unknown> {
  const copy = structuredClone(event);
  for (const assignment of assignments) setPath(copy, assignment);
  return copy;
}

function setPath(root: Record<string, unknown>, { path, value }: Assignment): void {
  let node: Record<string, unknown> = root;
  path.slice(0, -1).forEach((name, depth) => {
    // Only own properties are followed, because `constructor.prototype` would lead to an object
    // outside the event.
    const next: unknown = Object.hasOwn(node, name) ? node[name] : undefined;
    if (next === undefined || next === null) node = node[name] = {};
    else if (isJsonObject(next) || Array.isArray(next)) node = next as Record<string, unknown>;
    else
      throw usageError(
        `--set cannot set a value in ${path.slice(0, depth + 1).join(".")}: it is not an object`,
      );
  });
  const last = path.at(-1) as string;
  if (Array.isArray(node) && !/^\d{1,6}$/.test(last))
    throw usageError(`--set: ${last} is not an array index`);
  node[last] = value;
}

/** Finds an event by its type, or by its type and subtype with a dot between them. */
export function findSample(samples: readonly EventSample[], name: string): EventSample | undefined {
  return samples.find((sample) => name === sample.type || name === nameOf(sample));
}

/** The error for a name that is no type of the sender. It lists the types. */
export function unknownType(sender: string, name: string): Error {
  const names = [...new Set(samplesOf(sender).map(nameOf))];
  const meant = nearMiss(name, names);
  const question = meant === undefined ? "" : ` did you mean ${meant}?`;
  const list = `use sample, or one of: ${names.join(", ")}`;
  return usageError(
    `"${echoed(name)}" is neither a file nor a type of ${sender};${question} ${list}`,
  );
}

function nameOf({ type, subtype }: EventSample): string {
  return subtype === null ? type : `${type}.${subtype}`;
}

type JsonObject = Record<string, unknown>;

/**
 * Makes an event look as if it happened now: a new id, `created_at` now, and the other times of a
 * signal shifted by the same duration (its period by whole days). Missing and invalid values are
 * not repaired, because fixtures may be invalid on purpose.
 */
export function restamp(event: JsonObject, now: number): JsonObject {
  const createdAt = timeOf(event["created_at"]);
  const shiftMs = createdAt === null ? 0 : now - createdAt;
  const stamped: JsonObject = { ...event };
  if ("created_at" in event) stamped["created_at"] = new Date(now).toISOString();
  const { data } = event;
  if (!isJsonObject(data) || !("signal_id" in data)) return { ...stamped, id: uniqueEventId() };
  stamped["data"] = shiftTimes({ ...data, signal_id: uniqueInteger() }, shiftMs);
  return withSignalId(stamped);
}

/** Sets the id to the service's form for signals: `sig_<signal_id>_<product_id>`. */
export function withSignalId(event: JsonObject): JsonObject {
  const { data } = event;
  if (!isJsonObject(data) || typeof data["signal_id"] !== "number") return event;
  const { product } = data;
  const productId = isJsonObject(product) ? product["id"] : undefined;
  return {
    ...event,
    id: `sig_${data["signal_id"]}_${typeof productId === "number" ? productId : 0}`,
  };
}

/** @returns null for bytes that are not a JSON object */
export function jsonObjectIn(bytes: Buffer): JsonObject | null {
  const json = parseJson(bytes);
  return json.ok && isJsonObject(json.value) ? json.value : null;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * A positive integer of 53 random bits. A number made from the time could repeat when two runs
 * begin together.
 */
export function uniqueInteger(): number {
  return randomInt(1, 2 ** 26) * 2 ** 27 + randomInt(2 ** 27);
}

/** An id in the service's form for events other than signals. */
export function uniqueEventId(): string {
  return `evt_${randomBytes(8).toString("hex")}`;
}
