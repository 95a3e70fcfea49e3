import { expect, test } from "vitest";
import { OPERATIONS, type Operation } from "../../../../../src/service/contract/operations.js";
import {
  parseInput,
  type ParameterProblem,
} from "../../../../../src/service/emulator/operations/parse-input.js";
import { ServiceError } from "../../../../../src/service/emulator/operations/service-error.js";

const { body: REGISTER } = OPERATIONS.registerWebhook;

function refusalOf(schema: NonNullable<Operation["body"]>, input: unknown): ServiceError | null {
  try {
    parseInput(schema, input, "INVALID_BODY");
    return null;
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}

const problemsOf = (schema: NonNullable<Operation["body"]>, input: unknown): ParameterProblem[] =>
  (refusalOf(schema, input)?.details ?? []) as ParameterProblem[];

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

test("of thousands of unknown keys the first ten are named", () => {
  const input = Object.fromEntries(Array.from({ length: 7000 }, (_, index) => [`key_${index}`, 1]));
  const refused = refusalOf(REGISTER, input);
  const problems = problemsOf(REGISTER, input);
  expect(problems).toHaveLength(11);
  expect(problems.at(-1)).toEqual({ parameter: "", problem: "more than 10 parameters are wrong" });
  expect(JSON.stringify([refused?.message, refused?.details]).length).toBeLessThan(2000);
});

test("keys that every object inherits are unknown", () => {
  for (const key of ["__proto__", "constructor", "toString"]) {
    const input: unknown = JSON.parse(
      `{"url":"https://receiver.example/","signal_types":["new_model"],"${key}":{}}`,
    );
    expect(problemsOf(REGISTER, input)).toEqual([{ parameter: key, problem: "is not known" }]);
  }
});
