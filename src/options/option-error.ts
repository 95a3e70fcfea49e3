import type { z } from "zod";
import { SignalboxError } from "../errors.js";
import { describeIssue } from "./describe-issue.js";
import { nearMiss } from "./near-miss.js";

/**
 * Checks options, and fills in the defaults of their schema.
 *
 * @param of the function with these options, such as `createReceiver`
 * @throws SignalboxError `option_unknown`, `option_invalid`; it names the wrong option, without its value
 */
export function checkOptions<Schema extends z.ZodType>(of: Owner, schema: Schema, options: unknown): z.output<Schema> {
  const parsed = schema.safeParse(options);
  if (!parsed.success) throw optionError(of, schema, parsed.error);
  return parsed.data;
}

function optionError(of: Owner, schema: z.ZodType, error: z.ZodError): SignalboxError {
  // A misspelt required option is also missing. The error about its name is more helpful, so it is thrown.
  const unknown = error.issues.map(unknownKeysIn).find((issue) => issue !== null);
  if (unknown !== undefined) return unknownOption(of, schema, unknown);
  const issue = error.issues[0] as z.core.$ZodIssue;
  return invalidOption(of, issue.path.join("."), describeIssue(issue).replace(/^must be /, "expected "));
}

/** The page that lists the options of each. */
const PAGES = {
  createReceiver: "docs/receiver.md",
  createClient: "docs/client.md",
  createEmulator: "docs/emulator.md",
  "receiver.close": "docs/receiver.md",
  "receiver.drain": "docs/receiver.md",
  "inbox.list": "docs/receiver.md",
  "inbox.search": "docs/receiver.md",
  "inbox.activity": "docs/receiver.md",
};
type Owner = keyof typeof PAGES;

/** The refusal of one option. The command line uses its parts for an error about the matching flag. */
export class OptionError extends SignalboxError {
  /** The option's path, such as `limits.maxBytes`; empty for the whole object. */
  readonly option: string;
  /** Such as `expected a number`. */
  readonly problem: string;

  constructor(of: Owner, option: string, problem: string, help = `${PAGES[of]} lists every option.`) {
    const subject = option === "" ? `The options of ${of} are` : `The option "${option}" of ${of} is`;
    super("option_invalid", `${subject} invalid: ${problem}.`, help);
    this.option = option;
    this.problem = problem;
  }
}

export function invalidOption(...args: ConstructorParameters<typeof OptionError>): OptionError {
  return new OptionError(...args);
}

type UnknownKeys = Pick<z.core.$ZodIssueUnrecognizedKeys, "path" | "keys">;

/** Looks inside the issue of a union too, which contains the issues of its branches. */
function unknownKeysIn(issue: z.core.$ZodIssue): UnknownKeys | null {
  if (issue.code === "unrecognized_keys") return issue;
  if (issue.code !== "invalid_union") return null;
  const inner = issue.errors.flat().find((each) => each.code === "unrecognized_keys");
  return inner === undefined ? null : { keys: inner.keys, path: [...issue.path, ...inner.path] };
}

function unknownOption(of: Owner, schema: z.ZodType, { path, keys: [name = ""] }: UnknownKeys): SignalboxError {
  return unknownName(of, "option", name, namesAt(schema, path), path);
}

/** The refusal of a name that does not exist, with the name that was probably meant. */
export function unknownName(
  of: string,
  what: "option" | "event",
  given: unknown,
  known: readonly string[],
  path: readonly PropertyKey[] = [],
): SignalboxError {
  const name = String(given);
  const meant = nearMiss(name, known);
  const help = meant === undefined ? `Known are ${known.join(", ")}.` : `Did you mean "${meant}"?`;
  return new SignalboxError("option_unknown", `${of} has no ${what} "${[...path, name].join(".")}".`, help);
}

/** The option names at this path of the schema. */
function namesAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  let current = unwrap(schema);
  for (const key of path) current = unwrap(typeof key === "number" ? current.element : current.shape?.[String(key)]);
  return Object.keys(current.shape ?? {});
}

/** The parts of zod's definitions that `namesAt` uses. */
interface Definition {
  /** The properties of an object. */
  shape?: Record<string, z.ZodType>;
  /** The items of an array. */
  element?: z.ZodType;
  /** The schema inside an optional schema, or inside a schema with a default. */
  innerType?: z.ZodType;
  /** The branches of a union. */
  options?: readonly z.ZodType[];
}

function unwrap(schema: z.ZodType | undefined): Definition {
  const definition = (schema?.def ?? {}) as Definition;
  if (definition.innerType !== undefined) return unwrap(definition.innerType);
  const branch = definition.options?.find((option) => "shape" in option.def);
  return branch === undefined ? definition : unwrap(branch);
}
