import { invalidOption } from "../option-error.js";
import { SignalboxError } from "../errors.js";
import { nearMiss } from "../near-miss.js";
import { ASSUMPTIONS, type Assumption, type Assumptions } from "./assumptions.js";

/** Assumptions that are to be other than their defaults. */
export type AssumptionOptions = { [Name in keyof Assumptions]?: Assumptions[Name] | undefined };

const TABLE: ReadonlyMap<string, Assumption<unknown>> = new Map(Object.entries(ASSUMPTIONS));

/**
 * Every assumption, with what a user chose.
 *
 * @param factory whose texts an error has
 * @throws SignalboxError `option_unknown`, `option_invalid`
 */
export function resolveAssumptions(chosen: AssumptionOptions, factory: string): Assumptions {
  const values: Record<string, unknown> = {};
  for (const [name, assumption] of TABLE) values[name] = assumption.default;
  for (const [name, value] of Object.entries(chosen)) {
    if (value === undefined) continue;
    const assumption = assumptionOf(name, factory);
    if (!fits(value, assumption)) throw invalidOption(factory, `assumptions.${name}`, `expected ${wanted(assumption)}`);
    values[name] = value;
  }
  // One value for each entry of the table, of the type of its default.
  return values as Assumptions;
}

/**
 * A value as somebody types it, by the type of the assumption's default.
 *
 * @throws SignalboxError `option_unknown`, `option_invalid`
 */
export function parseAssumption(name: string, text: string, factory: string): string | number | boolean {
  const assumption = assumptionOf(name, factory);
  const value = typed(text, typeof assumption.default);
  if (value !== undefined && fits(value, assumption)) return value;
  throw invalidOption(factory, `assumptions.${name}`, `expected ${wanted(assumption)}`);
}

function typed(text: string, type: string): string | number | boolean | undefined {
  if (type === "number") return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
  if (type === "boolean") return text === "true" ? true : text === "false" ? false : undefined;
  return text;
}

function assumptionOf(name: string, factory: string): Assumption<unknown> {
  const found = TABLE.get(name);
  if (found !== undefined) return found;
  const meant = nearMiss(name, [...TABLE.keys()]);
  const help = meant === undefined ? "The README lists all of them." : `Did you mean "${meant}"?`;
  throw new SignalboxError("option_unknown", `${factory} has no option "assumptions.${name}".`, help);
}

function fits(value: unknown, assumption: Assumption<unknown>): boolean {
  if (assumption.values !== undefined) return assumption.values.includes(value);
  if (typeof value !== typeof assumption.default) return false;
  if (typeof value !== "number") return true;
  const [least, most] = assumption.whole ?? [0, Number.MAX_SAFE_INTEGER];
  return value >= least && value <= most && (assumption.whole === undefined || Number.isInteger(value));
}

function wanted(assumption: Assumption<unknown>): string {
  if (assumption.values !== undefined) return `one of ${assumption.values.join(", ")}`;
  if (assumption.whole !== undefined) return `a whole number from ${assumption.whole[0]} to ${assumption.whole[1]}`;
  if (typeof assumption.default === "boolean") return "true or false";
  return typeof assumption.default === "number" ? "a number of at least 0" : "a text";
}
