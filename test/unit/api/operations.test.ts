import { expect, test } from "vitest";
import { ERROR_STATUS, quotaDetailsSchema } from "../../../src/api/error-envelope.js";
import { API_PREFIX, OPERATIONS, type Operation, type OperationName } from "../../../src/api/operations.js";
import { ENTITLEMENTS, SCOPES, TIERS } from "../../../src/api/access.js";

const RESEARCH = "/research/promotion-investigations";

test.each<[row: string, name: OperationName, line: string, status: number, errors: string, body: string[]]>([
  [
    "[operations/start-investigation] [limits/quota-units]",
    "startInvestigation",
    `POST ${RESEARCH} research:execute 1`,
    202,
    "400 401 403 404 409 429 503",
    ["slug", "locale", "idempotency_key", "confirm_usage"],
  ],
  [
    "[operations/read-investigation]",
    "readInvestigation",
    `GET ${RESEARCH}/{task_id} research:read 0`,
    200,
    "400 401 403 404 409 429 503",
    [],
  ],
  [
    "[operations/register-webhook]",
    "registerWebhook",
    "POST /alerts/webhooks webhooks:manage 1",
    201,
    "400 401 403 404 409 429 503",
    ["url", "locale", "signal_types"],
  ],
  ["[operations/product-profile]", "productProfile", "GET /tools/{slug} null 0", 200, "404", []],
  [
    "[operations/search-demand]",
    "searchDemand",
    "GET /research/search-demand research:read 1",
    200,
    "400 401 403 404 429 503",
    [],
  ],
  ["[operations/rankings]", "rankings", "GET /research/rankings research:read 1", 200, "400 401 403 404 429 503", []],
])("an operation is what the document says %s", (_row, name, line, status, errors, body) => {
  const operation: Operation = OPERATIONS[name];
  expect(`${operation.method} ${operation.path} ${operation.scope} ${operation.quotaUnits}`).toBe(line);
  expect(operation.response.status).toBe(status);
  expect(operation.errors.join(" ")).toBe(errors);
  expect(Object.keys(operation.body?.shape ?? {})).toEqual(body);
});

test("there are six REST operations, below the prefix of version 1 [versioning/prefix]", () => {
  expect(Object.keys(OPERATIONS)).toHaveLength(6);
  expect(API_PREFIX).toBe("/v1");
});

test("keys have four scopes, accounts four entitlements and three tiers", () => {
  expect(SCOPES).toEqual(["research:execute", "research:read", "webhooks:manage", "mcp:tools"]);
  const entitlements = ["api.access", "search_demand.full_database", "market.rankings", "market.advanced_filters"];
  expect(ENTITLEMENTS).toEqual(entitlements);
  expect(TIERS).toEqual(["developer", "pro", "enterprise"]);
});

test("each of the document's error statuses has a code, and 405 is the only other one", () => {
  const statuses = [400, 401, 403, 404, 409, 429, 503];
  expect([...new Set(Object.values(ERROR_STATUS))].sort((a, b) => a - b)).toEqual(
    [...statuses, 405].sort((a, b) => a - b),
  );
});

test("an exhausted quota has a code and details of its own [errors/quota-code] [errors/quota-details]", () => {
  expect(ERROR_STATUS.PRO_API_QUOTA_EXHAUSTED).toBe(429);
  expect(quotaDetailsSchema.safeParse({ limit: 50, remaining: 0 }).success).toBe(true);
  for (const details of [{}, { limit: 50 }, { limit: "50", remaining: 0 }, { limit: 50, remaining: 0.5 }, null]) {
    expect(quotaDetailsSchema.safeParse(details).success).toBe(false);
  }
});
