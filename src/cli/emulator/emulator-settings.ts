import { InvalidArgumentError } from "commander";
import type { AssumptionOptions } from "../../emulator/assumption-options.js";
import { usageError } from "../exit.js";

/** A day or a moment as the option `startAt` takes it. */
export function isoTime(text: string): string {
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const isMoment = /^\d{4}-\d{2}-\d{2}T[\d:.]+(Z|[+-]\d{2}:\d{2})$/.test(text);
  const time = isDay || isMoment ? Date.parse(text) : NaN;
  if (!Number.isNaN(time)) return new Date(time).toISOString();
  throw new InvalidArgumentError("Expected a day or a moment such as 2026-11-01 or 2026-11-01T09:00:00Z.");
}

/**
 * @param assigned as typed: `name=value`
 * @throws CliError, SignalboxError `option_unknown`, `option_invalid`
 */
export async function readAssumptions(
  assigned: readonly string[],
  allowLoopbackHttp: boolean,
): Promise<AssumptionOptions> {
  const { parseAssumption } = await import("../../emulator/assumption-options.js");
  const chosen = assigned.map((text) => {
    const equals = text.indexOf("=");
    if (equals === -1) throw usageError("--assume wants name=value, such as --assume rateWindow=fixed");
    const name = text.slice(0, equals);
    return [name, parseAssumption(name, text.slice(equals + 1), "signalbox emulator")] as const;
  });
  // Each value was held against the type of its assumption.
  const assumptions = Object.fromEntries(chosen) as AssumptionOptions;
  // A receiver on this machine goes by its clock: it would refuse what is signed in a time that was moved.
  return allowLoopbackHttp ? { signatureClock: "machine", ...assumptions, allowLoopbackHttp } : assumptions;
}
