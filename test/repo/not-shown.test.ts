import { expect, test } from "vitest";
import { ASSUMPTIONS } from "../../src/emulator/instance/assumptions.js";
import { FIXED_ASSUMPTIONS } from "../../src/emulator/instance/fixed-assumptions.js";
import { LATER } from "./document-rows.js";

type Name = keyof typeof ASSUMPTIONS | keyof typeof FIXED_ASSUMPTIONS;

/** What the service's document calls "not shown", in its order, in words of ours, with the entries about it. */
const NOT_SHOWN: Readonly<Record<string, readonly Name[] | "later">> = {
  "task: error codes": ["taskErrorCodes"],
  "report: items and reliability": ["reportItems", "reliabilityValues"],
  "profile: pricing, staleness, categories": ["pricingModels", "stalenessStatuses", "categoryItems"],
  "rankings: dataset, filters, category": ["rankingsDataset", "rankingsFilters", "rankingsCategory"],
  "investigation: transitions and stages": [
    "taskSteps",
    "taskFailure",
    "queuedSeconds",
    "investigatingSeconds",
    "generatingReportSeconds",
  ],
  "webhook: transitions": ["registrationSteps", "unverifiedBecome"],
  "operations of the dashboard": ["dashboardOperations"],
  "MCP: free calls": "later",
  "authentication: features of ranking sorts": ["accessGates"],
  "signal: directions and units": ["changeDirections", "changeUnits"],
  "test event: trigger": ["testTrigger"],
  "deliveries: retries, time-out, failures, headers": [
    "retrySeconds",
    "longestRetryAfterSeconds",
    "deliveryTimeoutMs",
    "pauseAfterFailures",
    "deliveryHeaders",
  ],
  "errors: codes": ["errorCodes"],
  "limits: headers of a rate 429, a fourth investigation": ["rateLimitRetryAfter", "fourthInvestigationStatus"],
  "versioning: policy": ["compatibility"],
};

/** What it leaves open without calling it so, by its sections. */
const LEFT_OPEN: Readonly<Record<string, readonly Name[]>> = {
  "search demand": ["trafficDataSource", "brandTypes", "concentration", "comparisonBaseline", "keywordLists"],
  rankings: ["rankingsSelection"],
  "research operations": ["unknownNames", "localeResolution"],
  "product profile": ["profileLocale"],
  "start an investigation": ["investigationsPerMonth"],
  "register a webhook": ["allowLoopbackHttp", "registrationDay"],
  authentication: ["sessionScopes"],
  "errors and limits": ["quotaHeadersOnEveryAnswer", "countedCalls", "developerTotals", "rateWindow", "wrongMethods"],
  events: [
    "deliveriesInFlight",
    "redeliversOldSignals",
    "signatureClock",
    "firstSignalId",
    "monthObservedOnDay",
    "minutesBetweenSignalTypes",
  ],
};

const ENTRIES: readonly string[] = [...Object.keys(ASSUMPTIONS), ...Object.keys(FIXED_ASSUMPTIONS)];

test("what the document does not show has its entries, and every entry is about what it leaves open", () => {
  const rows = [...Object.entries(NOT_SHOWN), ...Object.entries(LEFT_OPEN)];
  expect(Object.keys(NOT_SHOWN)).toHaveLength(15);
  expect(rows.filter(([, names]) => names.length === 0)).toEqual([]);
  const named = rows.flatMap(([, names]) => (names === "later" ? [] : names));
  expect([...named].sort()).toEqual([...ENTRIES].sort());
});

test("only what is built later has no entry yet", () => {
  const later = Object.keys(NOT_SHOWN).filter((row) => NOT_SHOWN[row] === "later");
  expect(later.map((row) => row.split(":")[0])).toEqual(["MCP"]);
  expect(LATER).toHaveProperty(["mcp-notes/free-calls"]);
});
