import { expect, test } from "vitest";
import { testEvent, verificationEvent, signalEvent } from "../../../../src/kit/testing/index.js";
import type { ComponentName } from "../../../../src/service/contract/openapi/component-schemas.js";
import { rankingsQuerySchema } from "../../../../src/service/contract/rankings.js";
import { searchDemandQuerySchema } from "../../../../src/service/contract/search-demand.js";
import { DOCUMENT, fits } from "./contract.js";
import { createDocumentValidator } from "./document-validator.js";

const UUID = "9b2f6c1e-4d7a-4f3b-8e5c-1a6d0b7f2c94";
const NIL = "00000000-0000-0000-0000-000000000000";
const versionOf = (digit: string): string => UUID.replace("4f3b", `${digit}f3b`);
const variantOf = (digit: string): string => UUID.replace("8e5c", `${digit}e5c`);
const SIGNAL = signalEvent("traffic_breakout");
const ODD = ["\u0000", "\n", " ", "\\", "é", "<", '"', "{", "|", "%", "%4g"];

interface Field {
  of: ComponentName;
  /** A whole value, with this in the field. */
  make: (value: string) => object;
  taken: string[];
  refused: string[];
}

const start = (more: object) => ({
  slug: "aurora-notes",
  idempotency_key: UUID,
  confirm_usage: true,
  ...more,
});

const FIELDS: Record<string, Field> = {
  "a date-time has a zone and a real date [all-resources/date-times]": {
    of: "WebhookVerificationEvent",
    make: (created_at) => ({ ...verificationEvent(), created_at }),
    taken: ["2026-03-02T09:15:00Z", "2026-03-02T09:15:00.123Z", "2026-03-02T17:15:00+08:00"],
    refused: ["2026-03-02", "2026-03-02 09:15", "yesterday", "2026-13-02T09:15:00Z"],
  },
  "a day of a period is a real one": {
    of: "SignalPublishedEvent",
    make: (day) => ({ ...SIGNAL, data: { ...SIGNAL.data, period: { start: day, end: day } } }),
    taken: ["2024-02-29"],
    refused: ["2026-02-30", "2026-2-1", ""],
  },
  "a UUID has one of the versions 1 to 8 in either case, or is all 0 or all f": {
    of: "StartInvestigationBody",
    make: (idempotency_key) => start({ idempotency_key }),
    taken: [
      UUID.toUpperCase(),
      versionOf("1"),
      versionOf("8"),
      variantOf("b"),
      NIL,
      NIL.replaceAll("0", "f"),
      NIL.replaceAll("0", "F"),
    ],
    refused: [
      versionOf("0"),
      versionOf("9"),
      variantOf("c"),
      UUID.slice(1),
      `{${UUID}}`,
      UUID.replaceAll("-", ""),
      `${UUID}\n`,
      "",
    ],
  },
  "a slug has small letters, digits and hyphens": {
    of: "StartInvestigationBody",
    make: (slug) => start({ slug }),
    taken: ["a", "7", "a-", "a--b", "gpt-4o"],
    refused: ["", "-a", "A", "a_b", "a b", "é", "a\n"],
  },
  "an endpoint is a URI as it stands, which a parser of URLs need not mend": {
    of: "RegisterWebhookBody",
    make: (url) => ({ url, signal_types: ["traffic_breakout"] }),
    taken: [
      "https://hooks.example",
      "https://hooks.example:8443/a?b=%C3%A9&c=~!$'()*+,;=:@",
      "https://[::1]/",
    ],
    refused: [
      ...ODD.flatMap((each) => [`https://hooks.example${each}`, `https://hooks.example/a${each}b`]),
      "",
      "hooks.example/signals",
      "https:hooks.example",
      "https:///hooks.example",
      "https://hooks.example/[a]",
      "https://例え.jp",
    ],
  },
};

test.each(Object.entries(FIELDS))("%s", (_name, { of, make, taken, refused }) => {
  expect(taken.filter((value) => !fits(of, make(value)))).toEqual([]);
  expect(refused.filter((value) => fits(of, make(value)))).toEqual([]);
});

test("an event has the data of its type", () => {
  expect(fits("WebhookVerificationEvent", verificationEvent())).toBe(true);
  expect(fits("WebhookTestEvent", testEvent())).toBe(true);
  expect(fits("WebhookTestEvent", { ...testEvent(), data: verificationEvent().data })).toBe(false);
  expect(fits("ChallengeAnswer", { challenge: verificationEvent().data.challenge })).toBe(true);
  expect(fits("SignalPublishedEvent", signalEvent("a_type_of_next_year"))).toBe(false);
});

test("the longest texts are counted in characters, not in the units of JavaScript", () => {
  const { faultsOf } = createDocumentValidator(DOCUMENT);
  for (const [text, isTaken] of [
    ["😀".repeat(80), true],
    ["😀".repeat(81), false],
  ] as const) {
    expect(rankingsQuerySchema.safeParse({ q: text }).success).toBe(isTaken);
    expect(faultsOf({ type: "string", maxLength: 80 }, text).length === 0).toBe(isTaken);
  }
});

test("the retired parameter view is refused, as every other unknown one [versioning/view-is-retired] [search-demand-notes/view-is-retired]", () => {
  expect(searchDemandQuerySchema.safeParse({ view: "keywords" }).success).toBe(false);
  expect(rankingsQuerySchema.safeParse({ min_visits: 1 }).success).toBe(false);
});
