import { afterAll, beforeAll, expect, test } from "vitest";
import { FIXED_ASSUMPTIONS } from "../../src/emulator/instance/fixed-assumptions.js";
import type { SignalEvent } from "../../src/events/envelope.js";
import { SIGNAL_TYPES } from "../../src/events/signal-types.js";
import { serveEndpoint } from "../unit/emulator/webhooks/webhook-world.js";
import { openEmulator, type RunningEmulator } from "./start-emulator.js";

const RANKINGS = "/research/rankings";

let running: RunningEmulator;
let key: string;
let accountId: number;
/** Of the product that is ranked first. */
let slug: string;

beforeAll(async () => {
  running = await openEmulator({ assumptions: { allowLoopbackHttp: true } });
  ({ key, accountId } = await running.account("pro"));
  slug = (await rank("")).items[0]?.["slug"] as string;
});
afterAll(() => running.emulator.close());

type Json = Record<string, unknown>;

async function rank(query: string): Promise<{ items: Json[]; dataset: Json; filters: Json; category: Json }> {
  return (await running.ask(`${RANKINGS}?${query}`, { key })).body as Awaited<ReturnType<typeof rank>>;
}

const keysOf = (value: unknown): string => Object.keys(value as Json).join(", ");

test("the keys of a ranking's dataset, filters and category, and of a profile's category are those that are told", async () => {
  const profile = (await running.ask(`/tools/${slug}`)).body;
  const { dataset, filters, category } = await rank(`category=${String(profile["primary_category_slug"])}`);
  const categories = profile["categories"] as Json[];
  expect(FIXED_ASSUMPTIONS.rankingsDataset.is).toBe(`${keysOf(dataset)}.`);
  expect(FIXED_ASSUMPTIONS.rankingsFilters.is).toBe(`${keysOf(filters)}.`);
  expect(FIXED_ASSUMPTIONS.rankingsCategory.is.split(";")[0]).toBe(keysOf(category));
  expect(FIXED_ASSUMPTIONS.categoryItems.is.split(";")[0]).toBe(keysOf(categories[0]));
});

test("the source of the data, the locale of a profile and the User-Agent of deliveries are as documented", async () => {
  const { dataset } = (await running.ask("/research/search-demand?limit=1", { key })).body as { dataset: Json };
  expect(FIXED_ASSUMPTIONS.trafficDataSource.is).toBe(`${String(dataset["source"])}.`);
  const profile = await running.ask(`/tools/${slug}?locale=zh-CN&other=1`);
  expect(profile.body).toMatchObject({ requested_locale: "zh-CN", resolved_locale: "zh-CN" });
  const { url, requests } = await serveEndpoint();
  const { body } = await running.ask("/alerts/webhooks", { key, body: { url, signal_types: ["new_model"] } });
  const sendTest = () => running.emulator.control.sendTestEvent({ registration_id: String(body["id"]) });
  await expect(sendTest()).rejects.toMatchObject({ code: "STATE_CONFLICT" });
  await running.emulator.control.settle();
  expect(requests.map(({ headers }) => headers["user-agent"])).toEqual(["signalbox-emulator"]);
});

const wordsOf = (name: "pricingModels" | "stalenessStatuses" | "changeDirections" | "changeUnits"): string[] =>
  FIXED_ASSUMPTIONS[name].is.replace(/\.$/, "").split(", ");

test("profiles have no other pricing models and staleness than those that are told, and all of these", async () => {
  const pages = [1, 2, 3, 4].map((page) => rank(`min_traffic=0&limit=50&page=${page}`));
  const slugs = (await Promise.all(pages)).flatMap(({ items }) => items.map((item) => String(item["slug"])));
  const profiles = await Promise.all(slugs.map(async (each) => (await running.ask(`/tools/${each}`)).body));
  const seen = (field: string): string[] => [...new Set(profiles.map((profile) => String(profile[field])))].sort();
  expect(seen("pricing_model")).toEqual(wordsOf("pricingModels").sort());
  expect(seen("staleness_status")).toEqual(wordsOf("stalenessStatuses").sort());
});

test("signals have no other directions and units than those that are told", async () => {
  const { control } = running.emulator;
  const { url, signals } = await serveEndpoint();
  const types = [SIGNAL_TYPES.slice(0, 30), SIGNAL_TYPES.slice(30)];
  for (const signal_types of types) {
    const { status } = await running.ask("/alerts/webhooks", { key, body: { url, signal_types } });
    expect(status).toBe(201);
  }
  await control.follow({ account_id: accountId, slugs: [slug] });
  await control.settle();
  for (const signal_type of SIGNAL_TYPES) await control.publishSignal({ signal_type, slug });
  await control.settle();
  expect(signals).toHaveLength(SIGNAL_TYPES.length);
  const changes = signals.map((request) => (JSON.parse(request.body.toString()) as SignalEvent).data.change);
  const directions = new Set(changes.map(({ direction }) => direction));
  const units = new Set(changes.flatMap(({ before, after }) => [before.unit, after.unit]));
  expect([...directions].sort()).toEqual(["up", ...wordsOf("changeDirections")].sort());
  const told = new Set(["visits", ...wordsOf("changeUnits")]);
  expect([...units].filter((unit) => !told.has(unit))).toEqual([]);
});
