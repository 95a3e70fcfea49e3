import type { z } from "zod";
import { parameterError, shownName, unknownProblem, type ParameterProblem } from "../operations/parameter-problem.js";
import { queryPairs } from "./query-pairs.js";
import { schemaProblems } from "../operations/schema-problems.js";
import { itemSchema, textValue } from "./text-value.js";

/**
 * Reads a query by the schema of its operation: each text becomes what the schema wants, and is held against it.
 *
 * @param query without its question mark
 * @throws ServiceError INVALID_PARAMETERS, naming every parameter that is wrong
 */
export function readQuery<Schema extends z.ZodObject>(query: string, schema: Schema): z.output<Schema> {
  const { input, problems } = queryInput(query, schema.shape);
  const refused = new Set(problems.map(({ parameter }) => parameter));
  const parsed = schema.safeParse(input);
  if (!parsed.success) {
    problems.push(...schemaProblems(parsed.error, input).filter(({ parameter }) => !refused.has(parameter)));
  }
  if (problems.length > 0 || !parsed.success) throw parameterError("INVALID_PARAMETERS", problems);
  return parsed.data;
}

/**
 * The parameters of a query as values, and what is wrong with them before their schema has seen them. A list is a parameter
 * that is given once for each item.
 */
export function queryInput(
  query: string,
  shape: z.core.$ZodShape,
): { input: Record<string, unknown>; problems: ParameterProblem[] } {
  const { pairs, problems } = queryPairs(query);
  const input: Record<string, unknown> = {};
  const seen = new Set<string>();
  for (const [name, text] of pairs) {
    // Not looked up by its name alone, which would find what every object inherits.
    const schema = Object.hasOwn(shape, name) ? shape[name] : undefined;
    const item = schema === undefined ? null : itemSchema(schema);
    if (schema === undefined) {
      problems.push({ parameter: shownName(name), problem: unknownProblem(name, Object.keys(shape)) });
    } else if (seen.has(name) && item === null) {
      problems.push({ parameter: name, problem: "is given more than once" });
    } else {
      const read = textValue(text, item ?? schema);
      const before = (input[name] ?? []) as unknown[];
      if ("problem" in read) problems.push({ parameter: name, problem: read.problem });
      else input[name] = item === null ? read.value : [...before, read.value];
    }
    seen.add(name);
  }
  return { input, problems };
}
