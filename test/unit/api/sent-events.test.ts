import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { ComponentName } from "../../../src/api/openapi/component-schemas.js";
import { SIGNAL_TYPES, type SignalEvent } from "../../../src/index.js";
import { signalEvent, testEvent, verificationEvent } from "../../../src/testing/index.js";
import { fits } from "./contract.js";
import { expectField } from "./expect-field.js";
import { anObject, dateTime, integer, number, oneOf, shape, text, type FieldKind } from "./field-kinds.js";

const FIXTURES = fileURLToPath(new URL("../../../fixtures/signals/", import.meta.url));
const fixture = (type: string): SignalEvent =>
  JSON.parse(readFileSync(`${FIXTURES}${type}.json`, "utf8")) as SignalEvent;

const SIGNAL = fixture("traffic_breakout");
const EVENTS: [component: ComponentName, event: { data: object }, type: string][] = [
  ["SignalPublishedEvent", SIGNAL, "signal.published"],
  ["WebhookVerificationEvent", verificationEvent(), "webhook.verification"],
  ["WebhookTestEvent", testEvent(), "webhook.test"],
];

test("the id of a signal is made of its number and its product's, others are any text [event-envelope/id]", () => {
  const ids: FieldKind = {
    takes: ["sig_1_2", "sig_12345_67890"],
    refuses: ["sig_1", "sig_1_2_3", "sig_a_b", "1_2", null],
  };
  for (const [component, event] of EVENTS) {
    expectField(component, "id", event, component === "SignalPublishedEvent" ? ids : text);
  }
});

test.each<[row: string, kindOf: (type: string) => FieldKind]>([
  ["[event-envelope/version] [versioning/event-version]", () => ({ takes: ["1"], refuses: ["2", "1.0", 1, null] })],
  ["[event-envelope/type]", (type) => oneOf(type)],
  ["[event-envelope/created_at]", () => dateTime],
])("a field of the envelope is what the document says, in each event %s", (row, kindOf) => {
  for (const [component, event, type] of EVENTS) expectField(component, row.replace(/ .*/, ""), event, kindOf(type));
});

test("the data of an event are those of its type [event-envelope/data]", () => {
  for (const [component, event] of EVENTS) {
    for (const [other, { data }] of EVENTS) {
      expect(fits(component, { ...event, data }), `${component} with the data of ${other}`).toBe(component === other);
    }
  }
});

test("a signal of 38 types, a verification and a test are all that is sent [event-types/signal.published]", () => {
  for (const type of SIGNAL_TYPES) expect(fits("SignalPublishedEvent", signalEvent(type)), type).toBe(true);
  expect(fits("SignalPublishedEvent", signalEvent("a_type_of_next_year"))).toBe(false);
});

test("a verification holds a challenge, and its answer repeats it [event-types/webhook.verification]", () => {
  const event = verificationEvent();
  expectField("WebhookVerificationEvent", "data", event, shape({ challenge: text }));
  expect(fits("ChallengeAnswer", { challenge: event.data.challenge })).toBe(true);
  expect(fits("ChallengeAnswer", event.data.challenge)).toBe(false);
});

test("a test event holds a message [event-types/webhook.test]", () => {
  expectField("WebhookTestEvent", "data", testEvent(), shape({ message: text }));
});

const measure = shape({ value: number, unit: text });
const day: FieldKind = {
  takes: ["2026-02-28", "2024-02-29"],
  refuses: ["2026-02-30", "2026-2-1", "2026-02-28T00:00:00Z", "", null, 20_260_228],
};

test.each<[row: string, kind: FieldKind]>([
  ["[signal-data/signal_id]", integer],
  ["[signal-data/signal_type]", oneOf(...SIGNAL_TYPES)],
  ["[signal-data/product]", shape({ id: integer, slug: text })],
  ["[signal-data/title]", text],
  ["[signal-data/summary]", text],
  ["[signal-data/change]", shape({ direction: text, magnitude: number, before: measure, after: measure })],
  ["[signal-data/observed_at]", dateTime],
  ["[signal-data/period]", shape({ start: day, end: day })],
  ["[signal-data/published_at]", dateTime],
  ["[signal-data/evidence_summary]", text],
  ["[signal-data/url]", text],
])("a field of a signal's data is what the document says %s", (row, kind) => {
  const name = /\/(.+)\]$/.exec(row)?.[1] ?? "";
  const data: Record<string, unknown> = { ...SIGNAL.data };
  const withData = (changed: object): boolean => fits("SignalPublishedEvent", { ...SIGNAL, data: changed });
  for (const value of kind.takes) expect(withData({ ...data, [name]: value }), JSON.stringify(value)).toBe(true);
  for (const value of kind.refuses) expect(withData({ ...data, [name]: value }), JSON.stringify(value)).toBe(false);
  delete data[name];
  expect(withData(data), "left out").toBe(false);
  expect(anObject.takes.every((value) => !withData(value as object))).toBe(true);
});

/** Whether a change has the meaning that the document gives to the signal type. */
type Meaning = (change: SignalEvent["data"]["change"]) => boolean;

const rises: Meaning = ({ direction, before, after }) => direction === "up" && after.value > before.value;
const falls: Meaning = ({ direction, before, after }) => direction === "down" && after.value < before.value;
const appears: Meaning = (change) => rises(change) && change.before.value === 0;
const goesAway: Meaning = (change) => falls(change) && change.after.value === 0;
const differs: Meaning = ({ direction, before, after }) =>
  direction === "changed" && (before.value !== after.value || before.unit !== after.unit);
const shifts: Meaning = ({ before, after }) => before.unit === "share" && before.value !== after.value;
const enters =
  (place: number): Meaning =>
  ({ direction, before, after }) =>
    direction === "up" && before.value > place && after.value <= place;
const dropsOutOf =
  (place: number): Meaning =>
  ({ direction, before, after }) =>
    direction === "down" && before.value <= place && after.value > place;

test.each<[row: string, means: Meaning]>([
  ["[signal-types/traffic_breakout]", rises],
  ["[signal-types/traffic_acceleration]", rises],
  ["[signal-types/traffic_deceleration]", (change) => falls(change) && change.after.value > 0],
  ["[signal-types/entered_category_top_10]", enters(10)],
  ["[signal-types/entered_category_top_20]", enters(20)],
  ["[signal-types/dropped_out_of_category_top_10]", dropsOutOf(10)],
  ["[signal-types/market_share_shift]", shifts],
  ["[signal-types/ai_referral_breakout]", rises],
  ["[signal-types/ai_traffic_share_shift]", shifts],
  ["[signal-types/new_ai_referral_source]", appears],
  ["[signal-types/ai_referral_sources_diversified]", rises],
  ["[signal-types/price_increased]", (change) => rises(change) && change.before.unit === change.after.unit],
  ["[signal-types/price_decreased]", (change) => falls(change) && change.before.unit === change.after.unit],
  ["[signal-types/free_plan_added]", appears],
  ["[signal-types/free_plan_removed]", goesAway],
  ["[signal-types/pricing_model_changed]", (change) => differs(change) && change.before.unit !== change.after.unit],
  ["[signal-types/trial_changed]", differs],
  ["[signal-types/enterprise_plan_introduced]", appears],
  ["[signal-types/backlink_acquisition_spike]", rises],
  ["[signal-types/ai_directory_push]", (change) => rises(change) && change.after.value > 2],
  ["[signal-types/media_review_burst]", rises],
  ["[signal-types/search_ads_started]", appears],
  ["[signal-types/ad_creative_expansion]", rises],
  ["[signal-types/new_feature]", appears],
  ["[signal-types/new_model]", appears],
  ["[signal-types/api_added]", appears],
  ["[signal-types/mcp_added]", appears],
  ["[signal-types/positioning_shift]", differs],
  ["[signal-types/product_launch]", appears],
  ["[signal-types/website_sitemap_expansion]", rises],
  ["[signal-types/website_sitemap_contraction]", falls],
  ["[signal-types/programmatic_seo_expansion]", rises],
  ["[signal-types/organic_keyword_breakout]", rises],
  ["[signal-types/brand_search_growth]", rises],
  ["[signal-types/new_market_pages]", rises],
  ["[signal-types/browser_extension_user_growth]", rises],
  ["[signal-types/primary_domain_changed]", differs],
  ["[signal-types/product_discontinued]", goesAway],
])("a signal type can be subscribed to and sent, and its fixture has its meaning %s", (row, means) => {
  const type = /\/(.+)\]$/.exec(row)?.[1] ?? "";
  const event = fixture(type);
  expect(event.data.signal_type).toBe(type);
  expect(fits("SignalPublishedEvent", event)).toBe(true);
  expect(means(event.data.change)).toBe(true);
  expect(fits("RegisterWebhookBody", { url: "https://hooks.example/signals", signal_types: [type] })).toBe(true);
});
