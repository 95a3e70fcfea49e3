import { expect, test } from "vitest";
import { ENTITLEMENTS, SCOPES, TIERS } from "../../../../src/service/contract/access.js";
import {
  API_PREFIX,
  OPERATIONS,
  type Operation,
} from "../../../../src/service/contract/operations.js";

// What each is given and answers is in `fields.test.ts`. The scopes and entitlements have their
// effects in test/emulator.
test("the operations are those of the document: address, scope, units of the quota, status, errors", () => {
  const described = Object.entries<Operation>(OPERATIONS).map(([name, operation]) => {
    const { method, path, scope, quotaUnits, response, errors } = operation;
    return `${name}: ${method} ${API_PREFIX}${path} ${scope} ${quotaUnits} ${response.status}, or ${errors.join(" ")}`;
  });
  const task = "/v1/research/promotion-investigations";
  expect(described).toEqual([
    `startInvestigation: POST ${task} research:execute 1 202, or 400 401 403 404 409 429 503`,
    `readInvestigation: GET ${task}/{task_id} research:read 0 200, or 400 401 403 404 409 429 503`,
    "registerWebhook: POST /v1/alerts/webhooks webhooks:manage 1 201, or 400 401 403 404 409 429 503",
    "productProfile: GET /v1/tools/{slug} null 0 200, or 404",
    "searchDemand: GET /v1/research/search-demand research:read 1 200, or 400 401 403 404 429 503",
    "rankings: GET /v1/research/rankings research:read 1 200, or 400 401 403 404 429 503",
  ]);
});

test("keys have four scopes, accounts four entitlements and three tiers", () => {
  expect(SCOPES).toEqual(["research:execute", "research:read", "webhooks:manage", "mcp:tools"]);
  const entitlements = [
    "api.access",
    "search_demand.full_database",
    "market.rankings",
    "market.advanced_filters",
  ];
  expect(ENTITLEMENTS).toEqual(entitlements);
  expect(TIERS).toEqual(["developer", "pro", "enterprise"]);
});
