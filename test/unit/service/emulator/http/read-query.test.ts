import { expect, test } from "vitest";
import type { z } from "zod";
import { rankingsQuerySchema } from "../../../../../src/service/contract/rankings.js";
import { searchDemandQuerySchema } from "../../../../../src/service/contract/search-demand.js";
import { readQuery } from "../../../../../src/service/emulator/http/read-request.js";
import { parseInput } from "../../../../../src/service/emulator/operations/parse-input.js";
import type { ServiceError } from "../../../../../src/service/emulator/operations/service-error.js";

function parsed<Schema extends z.ZodObject>(query: string, schema: Schema): z.output<Schema> {
  return parseInput(schema, readQuery(query, schema.shape), "INVALID_PARAMETERS");
}

/** The problems for which a query is refused, by parameter. */
function problemsOf(query: string): Record<string, string> {
  try {
    parsed(query, rankingsQuerySchema);
    return {};
  } catch (error) {
    const { code, status, message, details } = error as ServiceError;
    expect([code, status]).toEqual(["INVALID_PARAMETERS", 400]);
    const problems = details as { parameter: string; problem: string }[];
    for (const { parameter } of problems) expect(message).toContain(parameter);
    return Object.fromEntries(problems.map(({ parameter, problem }) => [parameter, problem]));
  }
}

test("texts become the types of the schema", () => {
  const query =
    "q=a+b%20c%2B&min_growth=0.1&min_dr=1e1&min_traffic=9007199254740991&country=dE&page=7";
  expect(parsed(query, rankingsQuerySchema)).toMatchObject({
    q: "a b c+",
    min_growth: 0.1,
    min_dr: 10,
    min_traffic: 9_007_199_254_740_991,
    country: "dE",
    page: 7,
  });
  const demand = "min_products=5&q=%E4%BD%A0&keyword_id=0";
  expect(parsed(demand, searchDemandQuerySchema)).toMatchObject({
    min_products: 5,
    q: "你",
    keyword_id: 0,
  });
});

const ODD_NAME = "(a name with other characters than letters, digits, _, . and -)";

test.each([
  ["limit=51", { limit: "must be at most 50" }],
  [
    "page=07&limit=%2B7&min_traffic=1.0",
    { page: "must be a number", limit: "must be a number", min_traffic: "must be a number" },
  ],
  ["min_growth=1e999", { min_growth: expect.any(String) }],
  ["min_traffic=9007199254740993", { min_traffic: expect.stringContaining("at most") }],
  ["country=DEU", { country: "must be two letters, such as DE" }],
  ["sort=ai&sort=ai", { sort: "is given more than once" }],
  ["constructor=1", { constructor: "is not known" }],
  ["q[]=1", { [ODD_NAME]: "is not known (did you mean q?)" }],
  [
    "page=x&limit=0&view=1",
    { page: "must be a number", limit: "must be at least 1", view: "is not known" },
  ],
])("refused: %s", (query, problems) => expect(problemsOf(query)).toEqual(problems));
