import type { z } from "zod";
import { SignalboxError } from "../errors.js";
import { issueWords } from "./issue-words.js";
import { nearMiss } from "./near-miss.js";

/**
 * What is wrong with the options, by name; never with a value.
 *
 * @param of the function that takes them: `createReceiver`
 * @param schema of all its options
 */
export function optionError(of: string, schema: z.ZodType, error: z.ZodError): SignalboxError {
  // A required option that is misspelt is also missing. Its wrong name says more.
  const unknown = error.issues.map(unknownKeysIn).find((issue) => issue !== null);
  if (unknown !== undefined) return unknownOption(of, schema, unknown);
  const issue = error.issues[0];
  if (issue === undefined) return invalidOption(of, "", "expected an object");
  return invalidOption(of, issue.path.join("."), issueWords(issue).replace(/^must be /, "expected "));
}

/** The refusal of one option. The command line says it of the flag that stands for the option. */
export class OptionError extends SignalboxError {
  /** Its path, such as `limits.maxBytes`; empty for the whole. */
  readonly option: string;
  /** Such as `expected a number`. */
  readonly problem: string;

  constructor(of: string, option: string, problem: string, help: string) {
    const subject = option === "" ? `The options of ${of} are` : `The option "${option}" of ${of} is`;
    super("option_invalid", `${subject} invalid: ${problem}.`, help);
    this.option = option;
    this.problem = problem;
  }
}

/** An option whose value does not fit. */
export function invalidOption(
  of: string,
  path: string,
  problem: string,
  help = "The README lists every option.",
): OptionError {
  return new OptionError(of, path, problem, help);
}

type UnknownKeys = Pick<z.core.$ZodIssueUnrecognizedKeys, "path" | "keys">;

/** A union reports the issues of its branches inside of its own. */
function unknownKeysIn(issue: z.core.$ZodIssue): UnknownKeys | null {
  if (issue.code === "unrecognized_keys") return issue;
  if (issue.code !== "invalid_union") return null;
  const inner = issue.errors.flat().find((each) => each.code === "unrecognized_keys");
  return inner === undefined ? null : { keys: inner.keys, path: [...issue.path, ...inner.path] };
}

function unknownOption(of: string, schema: z.ZodType, { path, keys: [name = ""] }: UnknownKeys): SignalboxError {
  const known = namesAt(schema, path);
  const meant = nearMiss(name, known);
  const help = meant === undefined ? `Known are ${known.join(", ")}.` : `Did you mean "${meant}"?`;
  return new SignalboxError("option_unknown", `${of} has no option "${[...path, name].join(".")}".`, help);
}

/** The names that the object at this path of the schema has. */
function namesAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  let current = unwrap(schema);
  for (const key of path) current = unwrap(typeof key === "number" ? current.element : current.shape?.[String(key)]);
  return Object.keys(current.shape ?? {});
}

/** What `namesAt` reads of a schema's definition. */
interface Definition {
  /** Of an object. */
  shape?: Record<string, z.ZodType>;
  /** Of a list. */
  element?: z.ZodType;
  /** Of an optional schema, or one with a default. */
  innerType?: z.ZodType;
  /** Of a union. */
  options?: readonly z.ZodType[];
}

function unwrap(schema: z.ZodType | undefined): Definition {
  const definition = (schema?.def ?? {}) as Definition;
  if (definition.innerType !== undefined) return unwrap(definition.innerType);
  const branch = definition.options?.find((option) => "shape" in option.def);
  return branch === undefined ? definition : unwrap(branch);
}
