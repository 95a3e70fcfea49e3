import { afterAll, beforeAll, expect, test } from "vitest";
import { FIXED_ASSUMPTIONS } from "../../src/emulator/instance/fixed-assumptions.js";
import { serveEndpoint } from "../unit/emulator/webhooks/webhook-world.js";
import { sendMessage } from "./call-tool.js";
import { openEmulator, type RunningEmulator } from "./start-emulator.js";

const RANKINGS = "/research/rankings";

let running: RunningEmulator;
let key: string;
/** Of the product that is ranked first. */
let slug: string;

beforeAll(async () => {
  running = await openEmulator({ assumptions: { allowLoopbackHttp: true } });
  ({ key } = await running.account("pro"));
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
  expect(FIXED_ASSUMPTIONS.rankingsDataset.is).toContain(` has ${keysOf(dataset)}.`);
  expect(FIXED_ASSUMPTIONS.rankingsFilters.is).toContain(` have ${keysOf(filters)}.`);
  expect(FIXED_ASSUMPTIONS.rankingsCategory.is).toContain(` has ${keysOf(category)};`);
  expect(FIXED_ASSUMPTIONS.categoryItems.is).toContain(` has ${keysOf(categories[0])};`);
});

test("the source of the data, the locale of a profile and the User-Agent of deliveries are as documented", async () => {
  const { dataset } = (await running.ask("/research/search-demand?limit=1", { key })).body as { dataset: Json };
  expect(FIXED_ASSUMPTIONS.trafficDataSource.is).toContain(` ${String(dataset["source"])}.`);
  const profile = await running.ask(`/tools/${slug}?locale=zh-CN&other=1`);
  expect(profile.body).toMatchObject({ requested_locale: "zh-CN", resolved_locale: "zh-CN" });
  const { url, requests } = await serveEndpoint();
  const { body } = await running.ask("/alerts/webhooks", { key, body: { url, signal_types: ["new_model"] } });
  const sendTest = () => running.emulator.control.sendTestEvent({ registration_id: String(body["id"]) });
  await expect(sendTest()).rejects.toMatchObject({ code: "STATE_CONFLICT" });
  await running.emulator.control.settle();
  expect(requests.map(({ headers }) => headers["user-agent"])).toEqual(["signalbox-emulator"]);
});

test("the remote MCP speaks the versions of the protocol that are told", async () => {
  const told = FIXED_ASSUMPTIONS.mcpProtocol.is.match(/\d{4}-\d\d-\d\d/g) ?? [];
  const clientInfo = { name: "test", version: "1" };
  const answered = told.map(async (protocolVersion) => {
    const params = { protocolVersion, capabilities: {}, clientInfo };
    const { body } = await sendMessage(running.emulator, { id: 1, method: "initialize", params }, { key });
    return (body["result"] as Json)["protocolVersion"];
  });
  // The last version has no handshake, so it is answered with the one before. The SDK's client speaks it in another test.
  expect(await Promise.all(answered)).toEqual([...told.slice(0, -1), told.at(-2)]);
  expect(told.at(-1)).toBe("2026-07-28");
});
