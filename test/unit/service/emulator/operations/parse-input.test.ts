import { expect, test } from "vitest";
import { OPERATIONS, type Operation } from "../../../../../src/service/contract/operations.js";
import {
  parseInput,
  type ParameterProblem,
} from "../../../../../src/service/emulator/operations/parse-input.js";
import type { ServiceError } from "../../../../../src/service/emulator/operations/service-error.js";

function problemsOf(schema: NonNullable<Operation["body"]>, input: unknown): ParameterProblem[] {
  try {
    parseInput(schema, input, "INVALID_BODY");
    return [];
  } catch (error) {
    return (error as ServiceError).details as ParameterProblem[];
  }
}

test("no operation describes a problem in the words of zod", () => {
  const values = [
    null,
    1,
    1.5,
    -1,
    Infinity,
    "",
    "x",
    "x".repeat(3000),
    [],
    {},
    true,
    [1],
    ["x"],
    [null],
    { a: 1 },
  ];
  const problems = Object.values(OPERATIONS as Record<string, Operation>).flatMap(
    ({ body, query }) => {
      const schema = body ?? query;
      if (schema === undefined) return [];
      const inputs = Object.keys(schema.shape).flatMap((name) =>
        values.map((value) => ({ [name]: value })),
      );
      return [...inputs, ...values].flatMap((input) => problemsOf(schema, input));
    },
  );
  expect(problems.length).toBeGreaterThan(300);
  const ours =
    /^(is required|is not known( \(did you mean \w+\?\))?|must (be|have) [\w https://.,:-]+)$/;
  expect(
    [...new Set(problems.map(({ problem }) => problem))].filter((problem) => !ours.test(problem)),
  ).toEqual([]);
});
