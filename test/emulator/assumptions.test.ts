import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AssumptionOptions } from "../../src/emulator/instance/assumption-options.js";
import { ASSUMPTIONS } from "../../src/emulator/instance/assumptions.js";
import type { SIGNAL_THRESHOLDS } from "../../src/emulator/market/signals/signal-thresholds.js";
import { SIGNAL_TYPES, type KnownSignalType } from "../../src/events/signal-types.js";
import { ASSUMPTION_ROWS, type World } from "./assumption-rows.js";
import { openEmulator, startEmulator } from "./start-emulator.js";

const KEY = "a-key-of-the-account-pro";
const DEVELOPER_KEY = "a-key-of-the-account-developer";
const folder = mkdtempSync(join(tmpdir(), "assumptions-"));
const made = join(folder, "made.db");
let copies = 0;
/** The seed of data whose next month has a signal of each type that a threshold is about. */
const MONTH_WITH_ALL = 2;

/** The data are made once: each emulator below goes on from a copy. */
beforeAll(async () => {
  const accounts = [
    { name: "Pro", tier: "pro", key: KEY },
    { name: "Developer Access", tier: "developer", key: DEVELOPER_KEY },
  ] as const;
  const { emulator } = await openEmulator({ db: made, accounts, seed: MONTH_WITH_ALL });
  await emulator.close();
});
afterAll(() => rmSync(folder, { recursive: true }));

async function worldWith(assumptions: AssumptionOptions): Promise<World> {
  const db = join(folder, `${++copies}.db`);
  copyFileSync(made, db);
  const running = await startEmulator({ db, assumptions });
  return { ...running, key: KEY, developerKey: DEVELOPER_KEY };
}

test.each(ASSUMPTION_ROWS)("$name changes what its text says", async (row) => {
  const { name, to, look, byDefault, switched, also } = row;
  expect(to).not.toEqual(ASSUMPTIONS[name].default);
  expect(await look(await worldWith({ ...also }))).toEqual(byDefault);
  expect(await look(await worldWith({ ...also, [name]: to }))).toEqual(switched);
});

/** How many signals of each type a month's data gave, all published. */
async function signalsOfTheMonth(assumptions: AssumptionOptions): Promise<Partial<Record<KnownSignalType, number>>> {
  const { emulator } = await worldWith({ minutesBetweenSignalTypes: 0, ...assumptions });
  await emulator.control.advance({ to: "2026-11-02T06:00:00Z" });
  const database = new Database(await emulator.control.snapshot());
  const rows = database.prepare("SELECT signal_type, count(*) FROM signal GROUP BY signal_type").raw().all();
  database.close();
  return Object.fromEntries(rows as [KnownSignalType, number][]);
}

test("minutesBetweenSignalTypes puts off the types of a month after the first one", async () => {
  const typesIn = async (assumptions: AssumptionOptions) => Object.keys(await signalsOfTheMonth(assumptions)).length;
  expect(await typesIn({ minutesBetweenSignalTypes: 10 })).toBe(1);
  expect(await typesIn({ minutesBetweenSignalTypes: 0 })).toBeGreaterThan(25);
});

type Threshold = keyof typeof SIGNAL_THRESHOLDS;

/** What no product reaches, and the types that then have no signal. Rows of a round are switched together. */
const THRESHOLD_ROUNDS: readonly Partial<Record<Threshold, readonly [never: number, ...types: KnownSignalType[]]>>[] = [
  {
    trafficBreakoutRate: [1e9, "traffic_breakout"],
    trafficAccelerationFactor: [1e9, "traffic_acceleration"],
    trafficDecelerationFactor: [0, "traffic_deceleration"],
    marketShareShift: [1, "market_share_shift"],
    aiBreakoutFactor: [1e9, "ai_referral_breakout"],
    aiShareShift: [1, "ai_traffic_share_shift"],
    newAiSourceVisits: [1e9, "new_ai_referral_source"],
    aiSourcesAdded: [1e9, "ai_referral_sources_diversified"],
    backlinkSpikeFactor: [1e9, "backlink_acquisition_spike"],
    directoriesAdded: [1e9, "ai_directory_push"],
    burstArticles: [1e9, "media_review_burst"],
    adCreativesFactor: [1e9, "ad_creative_expansion"],
    sitemapExpansionFactor: [1e9, "website_sitemap_expansion"],
    sitemapContractionFactor: [0, "website_sitemap_contraction"],
    patternUrlsAdded: [1e9, "programmatic_seo_expansion"],
    marketUrlsAdded: [1e9, "new_market_pages"],
    extensionGrowthFactor: [1e9, "browser_extension_user_growth"],
    keywordBreakoutFactor: [1e9, "organic_keyword_breakout"],
    brandGrowthRate: [1e9, "brand_search_growth"],
  },
  {
    trafficBreakoutVisits: [1e9, "traffic_breakout"],
    trafficTrendVisits: [1e9, "traffic_acceleration", "traffic_deceleration"],
    aiBreakoutVisits: [1e9, "ai_referral_breakout"],
    aiShareVisits: [1e9, "ai_traffic_share_shift"],
    backlinkSpikeDomains: [1e9, "backlink_acquisition_spike"],
    adCreativesAdded: [1e9, "ad_creative_expansion"],
    sitemapChangeUrls: [1e9, "website_sitemap_expansion", "website_sitemap_contraction"],
    extensionUsersAdded: [1e9, "browser_extension_user_growth"],
    keywordBreakoutVisits: [1e9, "organic_keyword_breakout"],
    brandGrowthSearches: [1e9, "brand_search_growth"],
  },
];

test("a threshold that nothing reaches takes the signals of its types away, and no others", async () => {
  const byDefault = await signalsOfTheMonth({});
  for (const round of THRESHOLD_ROUNDS) {
    const entries = Object.entries(round);
    const gone = entries.flatMap(([, [, ...types]]) => types);
    // Each type of a round hangs on one threshold alone, so that one which does nothing shows.
    expect(new Set(gone).size).toBe(gone.length);
    expect(gone.filter((type) => byDefault[type] === undefined)).toEqual([]);
    const switched = await signalsOfTheMonth(Object.fromEntries(entries.map(([name, [never]]) => [name, never])));
    const left = SIGNAL_TYPES.filter((type) => !gone.includes(type));
    expect(switched).toEqual(
      Object.fromEntries(left.flatMap((type) => (byDefault[type] === undefined ? [] : [[type, byDefault[type]]]))),
    );
  }
});

test("every assumption has a row here", () => {
  const rows = [
    ...ASSUMPTION_ROWS.map(({ name }) => name),
    "minutesBetweenSignalTypes",
    ...THRESHOLD_ROUNDS.flatMap((round) => Object.keys(round)),
  ];
  expect(rows.sort()).toEqual(Object.keys(ASSUMPTIONS).sort());
});
