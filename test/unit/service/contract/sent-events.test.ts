import { expect, test } from "vitest";
import { SIGNAL_TYPES, type SignalEvent, type SignalType } from "../../../../src/kit/index.js";
import { readFixture } from "../../../../src/kit/testing/signal-event.js";
import { fits } from "./contract.js";

/** Whether a change has the meaning that the document gives to the signal type. */
type Meaning = (change: SignalEvent["data"]["change"]) => boolean;

const rises: Meaning = ({ direction, before, after }) =>
  direction === "up" && after.value > before.value;
const falls: Meaning = ({ direction, before, after }) =>
  direction === "down" && after.value < before.value;
const appears: Meaning = (change) => rises(change) && change.before.value === 0;
const goesAway: Meaning = (change) => falls(change) && change.after.value === 0;
const differs: Meaning = ({ direction, before, after }) =>
  direction === "changed" && (before.value !== after.value || before.unit !== after.unit);
const shifts: Meaning = ({ before, after }) =>
  before.unit === "share" && before.value !== after.value;
const enters =
  (place: number): Meaning =>
  ({ direction, before, after }) =>
    direction === "up" && before.value > place && after.value <= place;
const dropsOutOf =
  (place: number): Meaning =>
  ({ direction, before, after }) =>
    direction === "down" && before.value <= place && after.value > place;

const MEANINGS: readonly (readonly [means: Meaning, types: readonly SignalType[]])[] = [
  [
    rises,
    [
      "traffic_breakout",
      "traffic_acceleration",
      "ai_referral_breakout",
      "ai_referral_sources_diversified",
    ],
  ],
  [
    rises,
    [
      "backlink_acquisition_spike",
      "media_review_burst",
      "ad_creative_expansion",
      "website_sitemap_expansion",
    ],
  ],
  [
    rises,
    [
      "programmatic_seo_expansion",
      "organic_keyword_breakout",
      "brand_search_growth",
      "new_market_pages",
    ],
  ],
  [rises, ["browser_extension_user_growth"]],
  [(change) => rises(change) && change.before.unit === change.after.unit, ["price_increased"]],
  [(change) => rises(change) && change.after.value > 2, ["ai_directory_push"]],
  [falls, ["website_sitemap_contraction"]],
  [(change) => falls(change) && change.before.unit === change.after.unit, ["price_decreased"]],
  [(change) => falls(change) && change.after.value > 0, ["traffic_deceleration"]],
  [enters(10), ["entered_category_top_10"]],
  [enters(20), ["entered_category_top_20"]],
  [dropsOutOf(10), ["dropped_out_of_category_top_10"]],
  [shifts, ["market_share_shift", "ai_traffic_share_shift"]],
  [
    appears,
    [
      "new_ai_referral_source",
      "free_plan_added",
      "enterprise_plan_introduced",
      "search_ads_started",
    ],
  ],
  [appears, ["new_feature", "new_model", "api_added", "mcp_added", "product_launch"]],
  [goesAway, ["free_plan_removed", "product_discontinued"]],
  [differs, ["trial_changed", "positioning_shift", "primary_domain_changed"]],
  [
    (change) => differs(change) && change.before.unit !== change.after.unit,
    ["pricing_model_changed"],
  ],
];

test.each(SIGNAL_TYPES)(
  "%s can be subscribed to and sent, and its fixture has its meaning",
  (type) => {
    const [means] = MEANINGS.find(([, types]) => types.includes(type)) ?? [];
    const event = readFixture<SignalEvent>(`signals/${type}`);
    expect(event.data.signal_type).toBe(type);
    expect(fits("SignalPublishedEvent", event)).toBe(true);
    expect(means?.(event.data.change)).toBe(true);
    expect(
      fits("RegisterWebhookBody", { url: "https://hooks.example/signals", signal_types: [type] }),
    ).toBe(true);
  },
);
