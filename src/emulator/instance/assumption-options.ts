import { OptionError } from "../../options/option-error.js";
import { SignalboxError } from "../../errors.js";
import { nearMiss } from "../../options/near-miss.js";
import { ASSUMPTIONS, type Assumption, type Assumptions } from "./assumptions.js";

/** The assumptions that a user changes. */
export type AssumptionOptions = { [Name in keyof Assumptions]?: Assumptions[Name] | undefined };

const TABLE: ReadonlyMap<string, Assumption<unknown>> = new Map(Object.entries(ASSUMPTIONS));

/**
 * Returns every assumption, with the user's value or its default.
 *
 * @throws SignalboxError `option_unknown`, `option_invalid`
 */
export function resolveAssumptions(chosen: AssumptionOptions): Assumptions {
  const values: Record<string, unknown> = {};
  for (const [name, assumption] of TABLE) values[name] = assumption.default;
  for (const [name, value] of Object.entries(chosen)) {
    if (value === undefined) continue;
    const assumption = assumptionOf(name, `createEmulator has no option "assumptions.${name}".`);
    if (!isAllowed(assumption, value)) {
      throw new OptionError("createEmulator", `assumptions.${name}`, `expected ${assumption.allowed.text}`);
    }
    values[name] = value;
  }
  // Each value has passed the schema of its assumption.
  return values as Assumptions;
}

/** Reads a value of `--assume` from the command line. @throws SignalboxError `option_unknown`, `option_invalid` */
export function parseAssumption(name: string, text: string): string | number | boolean {
  const assumption = assumptionOf(name, `--assume has no assumption "${name}".`);
  const value = typed(text, typeof assumption.default);
  if (isAllowed(assumption, value)) return value;
  const problem = `--assume ${name}: expected ${assumption.allowed.text}.`;
  throw new SignalboxError("option_invalid", problem, "docs/emulator.md lists all assumptions.");
}

/** Converts a text to a type. A text that does not have the form of that type is returned as it is; the schema refuses it. */
function typed(text: string, type: string): string | number | boolean {
  if (type === "number" && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  return type === "boolean" && (text === "true" || text === "false") ? text === "true" : text;
}

function assumptionOf(name: string, problem: string): Assumption<unknown> {
  const found = TABLE.get(name);
  if (found !== undefined) return found;
  const names = [...TABLE.keys()];
  const meant = nearMiss(name, names);
  const help = meant === undefined ? `Known are ${names.join(", ")}.` : `Did you mean "${meant}"?`;
  throw new SignalboxError("option_unknown", problem, help);
}

const isAllowed = ({ allowed }: Assumption<unknown>, value: unknown): boolean =>
  allowed.schema.safeParse(value).success;
