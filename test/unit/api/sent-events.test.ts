import { expect, test } from "vitest";
import type { SignalEvent } from "../../../src/index.js";
import { signalEvent, testEvent, verificationEvent } from "../../../src/testing/index.js";
import { readFixture } from "../../../src/testing/read-fixture.js";
import { fieldsOf, fits, SCHEMAS } from "./contract.js";

const SIGNAL = signalEvent("traffic_breakout");
/** The fields that each event has. A type allows its own data only. */
const ENVELOPE = { id: "text", version: "1", created_at: "date-time" };

test("an event has the envelope of its type [event-envelope/id] [event-envelope/version] [event-envelope/type] [event-envelope/created_at] [event-envelope/data] [versioning/event-version] [event-types/signal.published] [event-types/webhook.verification] [event-types/webhook.test]", () => {
  const { data: _signal, ...signal } = fieldsOf(SCHEMAS["SignalPublishedEvent"] ?? {});
  expect(signal).toEqual({ ...ENVELOPE, id: String.raw`text /^sig_\d+_\d+$/`, type: "signal.published" });
  expect(fieldsOf(SCHEMAS["WebhookVerificationEvent"] ?? {})).toEqual({
    ...ENVELOPE,
    type: "webhook.verification",
    data: "{ challenge: text }",
  });
  expect(fieldsOf(SCHEMAS["WebhookTestEvent"] ?? {})).toEqual({
    ...ENVELOPE,
    type: "webhook.test",
    data: "{ message: text }",
  });
  expect(fits("WebhookVerificationEvent", verificationEvent())).toBe(true);
  expect(fits("WebhookTestEvent", testEvent())).toBe(true);
  expect(fits("WebhookTestEvent", { ...testEvent(), data: verificationEvent().data })).toBe(false);
  expect(fits("ChallengeAnswer", { challenge: verificationEvent().data.challenge })).toBe(true);
  expect(fits("SignalPublishedEvent", signalEvent("a_type_of_next_year"))).toBe(false);
});

test("a signal's data has the fields of the document [signal-data/signal_id] [signal-data/signal_type] [signal-data/product] [signal-data/title] [signal-data/summary] [signal-data/change] [signal-data/observed_at] [signal-data/period] [signal-data/published_at] [signal-data/evidence_summary] [signal-data/url]", () => {
  const { data = {} } = (SCHEMAS["SignalPublishedEvent"]?.["properties"] ?? {}) as { data?: object };
  expect(fieldsOf(data)).toEqual({
    signal_id: "integer",
    signal_type: "SignalType",
    product: "{ id: integer, slug: text }",
    title: "text",
    summary: "text",
    change:
      "{ direction: text, magnitude: number, before: { value: number, unit: text }, after: { value: number, unit: text } }",
    observed_at: "date-time",
    period: "{ start: date, end: date }",
    published_at: "date-time",
    evidence_summary: "text",
    url: "text",
  });
  const withStart = (start: string) => ({ ...SIGNAL, data: { ...SIGNAL.data, period: { start, end: start } } });
  expect(fits("SignalPublishedEvent", withStart("2024-02-29"))).toBe(true);
  for (const day of ["2026-02-30", "2026-2-1", ""]) expect(fits("SignalPublishedEvent", withStart(day))).toBe(false);
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
  const event = readFixture<SignalEvent>(`signals/${type}`);
  expect(event.data.signal_type).toBe(type);
  expect(fits("SignalPublishedEvent", event)).toBe(true);
  expect(means(event.data.change)).toBe(true);
  expect(fits("RegisterWebhookBody", { url: "https://hooks.example/signals", signal_types: [type] })).toBe(true);
});
