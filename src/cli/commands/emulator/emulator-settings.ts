import { InvalidArgumentError } from "commander";
import type { AssumptionOptions } from "../../../emulator/instance/assumption-options.js";
import { OptionError } from "../../../options/option-error.js";
import { nearMiss } from "../../../options/near-miss.js";
import { usageError } from "../../options/exit.js";
import { echoed } from "../../console/printable.js";

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const MOMENT = /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

/** A day or a moment as the option `startAt` takes it. */
export function isoTime(text: string): string {
  const day = DAY.test(text) ? text : MOMENT.exec(text)?.[1];
  if (day === undefined) {
    throw new InvalidArgumentError("Expected a day or a moment such as 2026-11-01 or 2026-11-01T09:00:00Z.");
  }
  if (!isInCalendar(day)) throw new InvalidArgumentError(`Expected a day of the calendar: there is no ${day}.`);
  return new Date(text).toISOString();
}

/** `Date.parse` takes the 30th of February for the 2nd of March. */
function isInCalendar(day: string): boolean {
  const time = Date.parse(day);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day);
}

/**
 * @param assigned `name=value`, as the user typed it
 * @throws CliError, SignalboxError `option_unknown`, `option_invalid`
 */
export async function readAssumptions(
  assigned: readonly string[],
  allowLoopbackHttp: boolean,
): Promise<AssumptionOptions> {
  const { parseAssumption } = await import("../../../emulator/instance/assumption-options.js");
  const { ASSUMPTIONS } = await import("../../../emulator/instance/assumptions.js");
  const known = Object.keys(ASSUMPTIONS);
  const chosen = assigned.map((text) => {
    const equals = text.indexOf("=");
    if (equals === -1) throw usageError("--assume wants name=value, such as --assume unknownNames=empty");
    const name = text.slice(0, equals);
    if (!known.includes(name)) throw usageError(unknownName(name, known));
    return [name, ofTheFlag(name, () => parseAssumption(name, text.slice(equals + 1), "signalbox emulator"))] as const;
  });
  // parseAssumption has checked each value.
  const assumptions = Object.fromEntries(chosen) as AssumptionOptions;
  if (allowLoopbackHttp && assumptions.allowLoopbackHttp === false) {
    throw usageError("--allow-loopback-http and --assume allowLoopbackHttp=false: give one of them");
  }
  // A receiver on this machine uses the clock of the machine, and would refuse signatures of a time that was moved.
  if (!allowLoopbackHttp && assumptions.allowLoopbackHttp !== true) return assumptions;
  return { signatureClock: "machine", allowLoopbackHttp: true, ...assumptions };
}

function unknownName(name: string, known: readonly string[]): string {
  const meant = nearMiss(name, known);
  const help = meant === undefined ? "The README lists all of them." : `Did you mean "${meant}"?`;
  return `--assume knows no "${echoed(name)}". ${help}`;
}

/** The refusal of an assumption, as one of the flag `--assume`. */
function ofTheFlag<Value>(name: string, parse: () => Value): Value {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof OptionError)) throw error;
    throw usageError(`--assume ${name}: ${error.problem}. ${error.help}`);
  }
}
