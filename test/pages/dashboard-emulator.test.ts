import type { Locator, Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import type { Tier } from "../../src/api/access.js";
import { BEGINNING, startEmulator, type RunningEmulator } from "../emulator/start-emulator.js";
import { serveEndpoint } from "../unit/emulator/webhooks/webhook-world.js";
import { SIGNAL_TYPES } from "../../src/events/signal-types.js";
import { HOSTILE } from "./hostile-texts.js";
import { overflowOf, tabTo, violationsOf } from "./page-checks.js";
import { openContext } from "./start-browser.js";

const HOUR_MS = 3_600_000;

interface Opened extends RunningEmulator {
  page: Page;
  key: string;
  troubles: string[];
  /** Products, the most visited first. */
  slugs: string[];
  show(view: string): Promise<void>;
  /** Registers an endpoint that answers 200. @returns the registration's id */
  register(types: readonly string[]): Promise<string>;
}

/** An emulator with one account, and its dashboard in a browser. */
async function openDashboard({ tier = "pro", name = "Ada" }: { tier?: Tier; name?: string } = {}): Promise<Opened> {
  const running = await startEmulator({ assumptions: { allowLoopbackHttp: true, signatureClock: "machine" } });
  const { emulator, ask } = running;
  await emulator.control.createAccount({ tier, name });
  const { key } = await emulator.control.createKey({ account_id: 1 });
  const { body } = await ask("/research/rankings?sort=traffic&limit=25", { key });
  const { context, troubles } = await openContext();
  onTestFinished(() => context.close());
  const page = await context.newPage();
  return {
    ...running,
    page,
    key,
    troubles,
    slugs: (body["items"] as { slug: string }[]).map(({ slug }) => slug),
    async show(view) {
      await page.goto("about:blank");
      await page.goto(`${emulator.url}/_emulator/ui/#/${view}`);
    },
    async register(types) {
      const { url } = await serveEndpoint();
      const told = await ask("/alerts/webhooks", { key, body: { url, signal_types: types } });
      await emulator.control.settle();
      return String(told.body["id"]);
    },
  };
}

const click = (page: Page, name: string): Promise<void> => page.getByRole("button", { name, exact: true }).click();
const panel = (page: Page, heading: string): Locator =>
  page.locator("section", { has: page.getByRole("heading", { name: heading, exact: true }) });
const rows = (within: Locator): Promise<string[]> =>
  within.locator("tbody tr").evaluateAll((found) => found.map(({ textContent }) => String(textContent)));
/** The browser logs an answer that is not 2xx by itself. */
const unexpected = (troubles: readonly string[]): string[] =>
  troubles.filter((text) => !/status of (404|503)/.test(text));

test("products are followed, a signal is published, and the way of its delivery is one click away", async () => {
  const own = await openDashboard();
  const { page, show, emulator, slugs } = own;
  const [slug = ""] = slugs;
  await show("");
  await page.getByRole("link", { name: "follow a product" }).click();
  await own.register(["price_increased"]);
  const other = slugs[9] ?? "";
  const followed = async (): Promise<string[]> =>
    (await emulator.control.listFollows({ account_id: 1 })).items.map((follow) => follow.slug);
  await page.getByLabel("Slug").fill(other);
  await click(page, "Follow");
  await page.getByRole("button", { name: `Stop following ${other}` }).waitFor();
  expect(await followed()).toEqual([other]);
  await page.getByLabel("Slug").fill(slug);
  await click(page, "Follow");
  await page.getByText(`Ada follows ${slug}.`).waitFor();
  await click(page, `Stop following ${other}`);
  await page.getByText(`${other} is not followed any more.`).waitFor();
  expect(await followed()).toEqual([slug]);

  const publish = panel(page, "Publish a signal");
  const type = publish.getByLabel("Signal type");
  expect(await type.locator("option").allInnerTexts()).toEqual(SIGNAL_TYPES);
  await type.selectOption("new_feature");
  await publish.getByRole("combobox", { name: "Product" }).fill(slug);
  await click(page, "Publish");
  await page.getByText("no follower has an active registration for this signal type").waitFor();
  await type.selectOption("price_increased");
  await click(page, "Publish");
  await page.getByText("sent to 1 registration").waitFor();
  await publish.getByRole("combobox", { name: "Product" }).fill("no-such-product");
  await click(page, "Publish");
  await page.getByRole("alert").getByText("There is no product with this slug.").waitFor();

  await emulator.control.settle();
  await publish.getByRole("link", { name: /^sig_/ }).click();
  await page.locator(".timeline li", { hasText: "200" }).first().waitFor();
  await page.getByRole("link", { name: "Overview", exact: true }).click();
  await panel(page, "Last deliveries").getByText("signal.published").waitFor();
  expect(await page.getByText("make an API key").count()).toBe(0);
  expect(unexpected(own.troubles)).toEqual([]);
});

test("the clock advances by buttons, to a moment and to the next month's signals, and says what was sent", async () => {
  const own = await openDashboard();
  const { page, show, emulator, slugs } = own;
  await own.register(SIGNAL_TYPES.slice(0, 30));
  await emulator.control.follow({ account_id: 1, slugs });
  const now = async (): Promise<number> => Date.parse((await emulator.control.now()).now);
  await show("clock");
  await click(page, "A day");
  await page.getByText("It is 2026-11-01 20:00:00 UTC.").waitFor();
  expect(await now()).toBe(BEGINNING + 24 * HOUR_MS);

  const meanwhile = panel(page, "What was sent meanwhile").locator("dd");
  expect((await meanwhile.allInnerTexts()).slice(0, 3)).toEqual(["0", "0", "0"]);
  await click(page, "To the next month's signals");
  await page.getByText("It is 2026-11-", { exact: false }).nth(1).waitFor();
  const { items } = await emulator.control.listDeliveries({ limit: 500 });
  const sent = items.filter(({ event_type }) => event_type === "signal.published");
  expect(sent.length).toBeGreaterThan(0);
  const [published, created, delivered] = (await meanwhile.allInnerTexts()).map((text) =>
    Number(text.replace(",", "")),
  );
  expect(published).toBeGreaterThan(0);
  expect([created, delivered]).toEqual([sent.length, sent.length]);

  await page.getByLabel("To a moment, in UTC").fill("2026-12-01T12:30");
  await click(page, "Advance");
  await page.getByText("It is 2026-12-01 12:30:00 UTC").waitFor();
  expect(await now()).toBe(Date.UTC(2026, 11, 1, 12, 30));
  expect(own.troubles).toEqual([]);
});

test("a view that is left advances the clock no further", async () => {
  const own = await openDashboard();
  const { page, show, emulator } = own;
  await show("clock");
  let release: () => void = () => {};
  const released = new Promise<void>((resume) => (release = resume));
  const held = page.waitForRequest("**/clock/advance");
  await page.route("**/clock/advance", async (route) => {
    await released;
    await route.continue();
  });
  await click(page, "To the next month's signals");
  await held;
  await page.getByRole("link", { name: "Keys", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "Keys" }).waitFor();
  release();
  await page.getByRole("status").getByText("It is 2026-11-01 02:00:00 UTC").waitFor();
  expect(Date.parse((await emulator.control.now()).now)).toBe(BEGINNING + 6 * HOUR_MS);
  expect(own.troubles).toEqual([]);
});

test("a fault makes the next delivery fail and an operation answer 503, until it is cleared", async () => {
  const own = await openDashboard();
  const { page, show, emulator, slugs } = own;
  const [slug = ""] = slugs;
  const id = await own.register(["price_increased"]);
  await emulator.control.follow({ account_id: 1, slugs: [slug] });
  await show("faults");
  const deliveries = panel(page, "Of deliveries");
  await deliveries.getByLabel("Fault").selectOption("latency");
  await deliveries.getByRole("spinbutton", { name: "Value" }).fill("10");
  await deliveries.getByRole("button", { name: "Set" }).click();
  await deliveries.getByText("latency 10").waitFor();
  await deliveries.getByRole("button", { name: `Clear the faults of ${id}` }).click();
  await deliveries.getByText("No fault is set.").waitFor();
  await deliveries.getByLabel("Fault").selectOption("status");
  await deliveries.getByRole("spinbutton", { name: "Value" }).fill("507");
  await deliveries.getByLabel("Requests").fill("1");
  await deliveries.getByRole("button", { name: "Set" }).click();
  await deliveries.getByText("the next 1").waitFor();
  const { event_id } = await emulator.control.publishSignal({ signal_type: "price_increased", slug });
  await emulator.control.settle();
  await deliveries.getByText("No fault is set.").waitFor();
  const [delivery] = (await emulator.control.listDeliveries({ event_id })).items;
  expect(delivery).toMatchObject({ state: "waiting", attempts: [{ faults: [{ kind: "status", value: 507 }] }] });
  await show("");
  await panel(page, "Last deliveries").getByText("next attempt").waitFor();

  await show("faults");
  const operations = panel(page, "Of the REST API");
  await operations.getByLabel("Operation").selectOption("rankings");
  await operations.getByRole("button", { name: "Set" }).click();
  await operations.getByText("until cleared").waitFor();
  expect((await own.ask("/research/rankings", { key: own.key })).status).toBe(503);
  await show("research");
  await page.getByRole("alert").getByText("The data are not available now.").waitFor();
  await show("faults");
  await operations.getByRole("button", { name: "Clear the faults of rankings" }).click();
  await operations.getByText("No fault is set.").waitFor();
  expect((await own.ask("/research/rankings", { key: own.key })).status).toBe(200);
  expect(unexpected(own.troubles)).toEqual([]);
});

test("the month's quota is shown, and a look at the research counts", async () => {
  const own = await openDashboard({ tier: "developer" });
  const { page, show, ask } = own;
  // A first call was made for the slugs.
  for (let call = 0; call < 2; call++) await ask("/research/rankings", { key: own.key });
  await show("");
  await page.getByText("3 of 50").waitFor();
  await page.getByRole("link", { name: "Research" }).click();
  await page.getByText("4 of 50 are used this month").waitFor();
  expect(await page.getByRole("row").count()).toBe(1 + 10);
  expect(own.troubles).toEqual([]);
});

test("an investigation from its start to its report by keyboard alone; one that is cancelled, one that fails", async () => {
  const own = await openDashboard();
  const { page, show, emulator, slugs } = own;
  const [slug = "", second = "", third = ""] = slugs;
  await show("investigations");
  await page.getByRole("heading", { name: "Start one" }).waitFor();
  await tabTo(page, "combobox", "Product or category");
  await page.keyboard.type(slug);
  await tabTo(page, "textbox", "API key");
  await page.keyboard.type(own.key);
  await tabTo(page, "checkbox", "It uses research allowance, and a call of the month's quota if there is one.");
  await page.keyboard.press("Space");
  await tabTo(page, "button", "Start");
  await page.keyboard.press("Enter");
  await page.getByText("queued", { exact: true }).first().waitFor();
  await tabTo(page, "button", "Advance the clock by an hour");
  await page.keyboard.press("Enter");
  await page.getByText("succeeded", { exact: true }).waitFor();
  await tabTo(page, "link", slug);
  await page.keyboard.press("Enter");
  const report = page.getByRole("article");
  await report.waitFor();
  const [task] = (await emulator.control.listInvestigations({})).items;
  const text = await report.innerText();
  for (const part of [
    task?.report?.narrative?.title,
    task?.report?.narrative?.summary?.text,
    task?.report?.conclusion,
    (task?.report?.narrative?.sections?.[0] as { text: string } | undefined)?.text,
    String(task?.report?.sources[0]?.["title"]),
  ]) {
    expect(text).toContain(part ?? "?");
  }

  for (const product of [second, third]) {
    const body = { slug: product, locale: "en", idempotency_key: crypto.randomUUID(), confirm_usage: true };
    await own.ask("/research/promotion-investigations", { key: own.key, body });
  }
  await page.getByRole("link", { name: "All investigations" }).click();
  await click(page, `Cancel the investigation of ${second}`);
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).last().click();
  await page.getByText("cancelled", { exact: true }).waitFor();
  await click(page, `Fail the investigation of ${third}`);
  await page.getByRole("dialog").getByRole("button", { name: "Fail" }).click();
  await page.getByText("failed", { exact: true }).waitFor();
  await page.getByRole("link", { name: third, exact: true }).click();
  await page.getByText("INVESTIGATION_FAILED").waitFor();
  const ends = (await emulator.control.listInvestigations({})).items.map((each) => [each.slug, each.status]);
  expect(Object.fromEntries(ends)).toEqual({ [slug]: "succeeded", [second]: "cancelled", [third]: "failed" });
  expect(own.troubles).toEqual([]);
});

test("rankings have pages, sorts and a search; search demand shows a keyword in detail", async () => {
  const own = await openDashboard();
  const { page, show, ask } = own;
  const answered = async (path: string): Promise<{ keyword: string; name: string; slug: string }[]> =>
    (await ask(`/research/${path}`, { key: own.key })).body["items"] as never;
  await show("research");
  await page.getByRole("link", { name: "Next" }).click();
  const [first] = await answered("rankings?sort=traffic&page=2");
  await page.getByText(first?.slug ?? "?", { exact: true }).waitFor();
  expect((await rows(page.locator("main")))[0]).toMatch(/^26/);
  await page.getByLabel("Rank by").selectOption("paid");
  const [paid] = await answered("rankings?sort=paid");
  await page
    .getByRole("row")
    .nth(1)
    .getByText(paid?.slug ?? "?", { exact: true })
    .waitFor();
  await page.getByLabel("Search products").fill(first?.name ?? "?");
  await page.keyboard.press("Enter");
  await page
    .getByRole("row")
    .nth(1)
    .getByText(first?.slug ?? "?", { exact: true })
    .waitFor();

  await page.getByRole("link", { name: "Search demand" }).click();
  const [, keyword] = await answered("search-demand?limit=2");
  await page.getByRole("link", { name: keyword?.keyword ?? "?", exact: true }).click();
  const detail = panel(page, keyword?.keyword ?? "?");
  await detail.getByRole("table", { name: "Months" }).waitFor();
  expect((await rows(detail.getByRole("table", { name: "Months" }))).length).toBe(12);
  await detail.getByRole("link", { name: "Close" }).click();
  await detail.waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Next" }).click();
  const [second] = await answered("search-demand?page=2");
  await page
    .getByRole("row")
    .nth(1)
    .getByText(second?.keyword ?? "?")
    .waitFor();
  expect(own.troubles).toEqual([]);
});

test("hostile names, slugs and addresses run nothing, and hide nothing", async () => {
  const name = HOSTILE.join(" ").slice(0, 200);
  const own = await openDashboard({ name });
  const { page, show } = own;
  const item = {
    rank: 1,
    name: HOSTILE.join(""),
    slug: HOSTILE.join(""),
    latest_visits: 1,
    visits_change: 1,
    growth_rate: 0,
  };
  await page.route("**/v1/research/rankings*", (route) =>
    route.fulfill({
      json: { eligible_population: 1, items: [item], pagination: { page: 1, limit: 25, has_more: false } },
    }),
  );
  const hash = encodeURIComponent(HOSTILE.join(""));
  const views = [
    "",
    "signals",
    "clock",
    "faults",
    "investigations",
    `investigations/${hash}`,
    `research?q=${hash}`,
    hash,
  ];
  for (const view of views) {
    await show(view);
    await page.getByRole("heading", { level: 1 }).waitFor();
    if (view.startsWith("research")) await page.getByRole("row").nth(1).waitFor();
    expect(await page.evaluate("globalThis.attacked")).toBeUndefined();
    expect(await page.locator("body").innerText()).not.toMatch(/[\p{Cf}\p{Co}\p{Cs}]/u);
    expect([view, await overflowOf(page)]).toEqual([view, 0]);
  }
  expect(await page.locator("header").innerText()).toContain("<script>");
  await show("signals");
  await page.getByLabel("Slug").fill(HOSTILE[0] ?? "");
  await click(page, "Follow");
  await page.getByRole("alert").getByText("there is no product with this slug").waitFor();
  expect(await page.evaluate("globalThis.attacked")).toBeUndefined();
  expect(unexpected(own.troubles)).toEqual([]);
});

test("none of these views has a violation by axe-core or scrolls sideways, in light and dark", async () => {
  const own = await openDashboard();
  const { page, show, emulator, slugs } = own;
  const [slug = ""] = slugs;
  const id = await own.register(["price_increased"]);
  await emulator.control.follow({ account_id: 1, slugs });
  await emulator.control.publishSignal({ signal_type: "price_increased", slug });
  for (const product of [slug, slugs[1]]) {
    const body = { slug: product, locale: "en", idempotency_key: crypto.randomUUID(), confirm_usage: true };
    await own.ask("/research/promotion-investigations", { key: own.key, body });
    await emulator.control.advance({ minutes: product === slug ? 10 : 0 });
  }
  await emulator.control.setDeliveryFault({ registration_id: id, kind: "latency", value: 9, times: 3 });
  await emulator.control.setOperationFault({ operation: "readInvestigation", code: "DATA_UNAVAILABLE", calls: 2 });
  const [task] = (await emulator.control.listInvestigations({})).items;
  const { body } = await own.ask("/research/search-demand?limit=1", { key: own.key });
  const [keyword] = body["items"] as { keyword_id: number }[];
  const views: readonly (readonly [view: string, ready: string, act?: () => Promise<void>])[] = [
    ["", "signal.published"],
    ["signals", slug],
    ["clock", "Advance the clock", () => click(page, "A minute")],
    ["faults", "latency 9"],
    ["investigations", "succeeded"],
    [`investigations/${task?.task_id ?? ""}`, "Sources"],
    ["research", slug],
    [`research/demand?keyword=${keyword?.keyword_id ?? 0}`, "Concentration"],
  ];
  const found: string[] = [];
  for (const [view, ready, act] of views) {
    await show(view);
    await page.locator("main").getByText(ready).first().waitFor();
    await act?.();
    for (const [colorScheme, width] of [
      ["light", 360],
      ["dark", 1024],
      ["dark", 360],
      ["light", 1920],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 800 });
      if ((await overflowOf(page)) > 0) found.push(`${view} scrolls sideways at ${width}`);
      if (width !== 360) continue;
      const violations = await violationsOf(page, colorScheme === "dark" ? "color-contrast" : undefined);
      found.push(...violations.map((each) => `${view} ${colorScheme} ${each}`));
    }
  }
  expect(found).toEqual([]);
  expect(own.troubles).toEqual([]);
});
