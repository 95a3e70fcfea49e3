import { expect, test } from "vitest";
import { OPERATIONS, type Operation } from "../../../../src/api/operations.js";
import { schemaProblems } from "../../../../src/emulator/operations/schema-problems.js";

const { body: START } = OPERATIONS.startInvestigation;
const { body: REGISTER } = OPERATIONS.registerWebhook;

function problemsOf(schema: NonNullable<Operation["body"]>, input: unknown): [parameter: string, problem: string][] {
  const parsed = schema.safeParse(input);
  if (parsed.success) return [];
  return schemaProblems(parsed.error, input).map(({ parameter, problem }) => [parameter, problem]);
}

test.each<[schema: NonNullable<Operation["body"]>, parameter: string, value: unknown, problem: string]>([
  [START, "slug", undefined, "is required"],
  [START, "slug", 7, "must be a text"],
  [START, "slug", "", "must have at least 1 character"],
  [START, "slug", "x".repeat(201), "must have at most 200 characters"],
  [START, "slug", "A product", "must be a slug: a to z, 0 to 9 and hyphens, and no hyphen first"],
  [START, "locale", "de", "must be one of en, zh-CN"],
  [START, "idempotency_key", "x", "must be a UUID"],
  [START, "confirm_usage", false, "must be true"],
  [
    REGISTER,
    "url",
    "nowhere",
    "must be an address such as https://receiver.example/signals, with odd characters escaped",
  ],
  [REGISTER, "signal_types", "new_model", "must be a list"],
  [REGISTER, "signal_types", [], "must have at least 1 item"],
  [REGISTER, "signal_types", Array(31).fill("new_model"), "must have at most 30 items"],
])(
  "a parameter that is wrong gets one problem, which says what is allowed: %#",
  (schema, parameter, value, problem) => {
    const found = problemsOf(schema, { [parameter]: value }).filter(([name]) => name === parameter);
    expect(found).toEqual([[parameter, problem]]);
  },
);

test("whatever an operation is given, what is said of it is in our words", () => {
  const values = [null, 1, 1.5, -1, Infinity, "", "x", "x".repeat(3000), [], {}, true, [1], ["x"], [null], { a: 1 }];
  const said = Object.values(OPERATIONS as Record<string, Operation>).flatMap(({ body, query }) => {
    const schema = body ?? query;
    if (schema === undefined) return [];
    const inputs = Object.keys(schema.shape).flatMap((name) => values.map((value) => ({ [name]: value })));
    return [...inputs, ...values].flatMap((input) => problemsOf(schema, input));
  });
  expect(said.length).toBeGreaterThan(300);
  const ours = /^(is required|is not known|must (be|have) [\w https://.,:-]+)$/;
  expect([...new Set(said.map(([, problem]) => problem))].filter((problem) => !ours.test(problem))).toEqual([]);
});
