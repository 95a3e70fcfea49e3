import { invalidOption } from "../../options/option-error.js";
import { SignalboxError } from "../../errors.js";
import { nearMiss } from "../../options/near-miss.js";
import { ASSUMPTIONS, type Assumption, type Assumptions } from "./assumptions.js";

/** The assumptions that a user changes. */
export type AssumptionOptions = { [Name in keyof Assumptions]?: Assumptions[Name] | undefined };

const TABLE: ReadonlyMap<string, Assumption<unknown>> = new Map(Object.entries(ASSUMPTIONS));

/**
 * Returns every assumption, with the user's value or its default.
 *
 * @param factory the function or command that errors name
 * @throws SignalboxError `option_unknown`, `option_invalid`
 */
export function resolveAssumptions(chosen: AssumptionOptions, factory: string): Assumptions {
  const values: Record<string, unknown> = {};
  for (const [name, assumption] of TABLE) values[name] = assumption.default;
  for (const [name, value] of Object.entries(chosen)) {
    if (value === undefined) continue;
    assertAllowed(name, value, factory);
    values[name] = value;
  }
  // Each value has passed the schema of its assumption.
  return values as Assumptions;
}

/** Reads a value from the command line. @throws SignalboxError `option_unknown`, `option_invalid` */
export function parseAssumption(name: string, text: string, factory: string): string | number | boolean {
  const value = typed(text, typeof assumptionOf(name, factory).default);
  assertAllowed(name, value, factory);
  return value;
}

/** Converts a text to a type. A text that does not have the form of that type is returned as it is; the schema refuses it. */
function typed(text: string, type: string): string | number | boolean {
  if (type === "number" && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  return type === "boolean" && (text === "true" || text === "false") ? text === "true" : text;
}

function assumptionOf(name: string, factory: string): Assumption<unknown> {
  const found = TABLE.get(name);
  if (found !== undefined) return found;
  const meant = nearMiss(name, [...TABLE.keys()]);
  const help = meant === undefined ? "The README lists all assumptions." : `Did you mean "${meant}"?`;
  throw new SignalboxError("option_unknown", `${factory} has no option "assumptions.${name}".`, help);
}

function assertAllowed(name: string, value: unknown, factory: string): void {
  const { schema, text, words } = assumptionOf(name, factory).allowed;
  if (schema.safeParse(value).success) return;
  const meant = typeof value === "string" && !words.includes(value) ? nearMiss(value, words) : undefined;
  const help = meant === undefined ? undefined : `Did you mean "${meant}"?`;
  throw invalidOption(factory, `assumptions.${name}`, `expected ${text}`, help);
}
