import { expect, test } from "vitest";
import { SIGNAL_TYPES } from "../../../src/kit/senders/signals/signal-types.js";
import { serveReceiver } from "../../cli/serve-requests.js";
import { BEGINNING } from "../../emulator/start-emulator.js";
import { serveEndpoint } from "../../unit/service/emulator/webhooks/webhook-world.js";
import { HOSTILE, SHOWN } from "../hostile-texts.js";
import { openDashboard, openWithAccount, RUNNING_CLOCK } from "../open-dashboard.js";
import { hasFocus } from "../open-reader.js";
import { faultsOf, overflowOf } from "../page-checks.js";
import { strippingProxy } from "../serve-page.js";

const HOUR_MS = 3_600_000;

test("the first account, and a key that is shown once and can be revoked", async () => {
  const { page, see, fill, click, rowOf, control, ask, ...own } = await openDashboard();
  await fill("Name", "Ada & <b>Co</b>");
  await click("Make an account");
  await own.follow("Keys");
  await see("This account has no key yet.");
  await page.getByRole("checkbox", { name: /^mcp:tools/ }).uncheck();
  await own.tabTo("button", "Make a key");
  await own.press("Enter");
  const key = await own.textOf("The new API key");
  expect(await hasFocus(page.locator(".once"))).toBe(true);
  expect((await ask("/research/rankings?limit=1", { key })).status).toBe(200);
  const [account] = (await control.listAccounts()).items;
  const [listed] = (await control.listKeys({ account_id: account?.account_id ?? 0 })).items;
  expect([account?.name, listed?.scopes]).toEqual([
    "Ada & <b>Co</b>",
    ["research:read", "research:execute", "webhooks:manage"],
  ]);

  await page.reload();
  const row = rowOf(listed?.hint ?? "?");
  await row.waitFor();
  const kept = await page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])");
  expect(`${await page.content()} ${String(kept)}`).not.toContain(key);
  await row.getByRole("button").click();
  await own.confirm("Revoke");
  await own.seeBadge("revoked");
  expect((await ask("/research/rankings?limit=1", { key })).status).toBe(401);

  await fill("Name", "Second");
  await page.getByLabel("Tier").selectOption("enterprise");
  await click("Make an account");
  await see("API keys of Second");
  expect((await control.listAccounts()).items[1]?.tier).toBe("enterprise");
});

test("a webhook with a real receiver: registered, verified, tested, rotated, paused, resumed, deleted", async () => {
  const own = await openWithAccount({ clock: RUNNING_CLOCK });
  const { page, see, click, follow, confirm, seeBadge, rowOf, control, publish } = own;
  await own.followFirst();
  const secrets: string[] = [];
  const signals: string[] = [];
  const { url } = await serveReceiver({
    clock: RUNNING_CLOCK,
    secrets: () => [...secrets],
    onSignal: ({ id }) => void signals.push(id),
  });
  const seeRow = (event: string, outcome: string): Promise<void> =>
    rowOf(event).filter({ hasText: outcome }).waitFor();

  await own.show("keys");
  await click("Make a key");
  await own.textOf("The new API key");
  await follow("Webhooks");
  await follow("Register a webhook");
  await see("The API key that this page has is used.");
  await own.fill("Endpoint", url);
  await page.getByLabel("price_increased", { exact: true }).check();
  await click("Register");
  const secret = await own.textOf("The signing secret");
  secrets.push(secret);
  // The receiver waits for the secret of a verification, and the page for the receiver.
  await seeBadge("active");
  await see("Latest deliveries");
  await click("I have stored it");
  expect(await page.content()).not.toContain(secret);

  await click("Send a test event");
  await seeRow("webhook.test", "delivered");
  const first = await publish();
  await seeRow(first, "delivered");

  await click("Rotate the secret");
  await confirm("Rotate");
  const rotated = await own.textOf("The signing secret");
  expect(rotated).not.toBe(secret);
  const second = await publish();
  await seeRow(second, "401");
  secrets.push(rotated);
  await control.advance({ minutes: 11 });
  await seeRow(second, "delivered");
  // A reader who leaves the view has seen it, too.
  await follow("Keys");
  await see("API keys of Ada");
  await page.goBack();
  await seeBadge("active");
  expect(await page.content()).not.toContain(rotated);

  await follow("Edit");
  await see("1 of at most 30 signal types chosen");
  await click("All of Product");
  await see("7 of at most 30 signal types chosen");
  await click("Save");
  await see("price_increased, new_feature");

  await click("Pause");
  await seeBadge("paused");
  const third = await publish();
  await control.settle();
  await click("Resume");
  await seeBadge("active");
  await control.settle();
  expect(signals).toEqual([first, second]);
  expect((await control.listDeliveries({ event_id: third })).items).toEqual([]);

  await click("Delete");
  await confirm("Delete");
  await seeBadge("deleted");
  expect(await page.getByRole("button", { name: "Rotate the secret" }).count()).toBe(0);
});

test("a failing receiver with hostile answers: every attempt, the retries, and a redelivery", async () => {
  const own = await openWithAccount({ clock: RUNNING_CLOCK });
  const { page, see, textOf, rowOf, control } = own;
  await own.followFirst();
  let isBroken = true;
  const { url, signals } = await serveEndpoint((_request, response) => {
    const headers = { "Content-Type": "text/html", "X-Hostile": HOSTILE.slice(0, 3).join("") };
    if (isBroken) response.writeHead(500, headers).end(HOSTILE.slice(0, 6).join("\n"));
    else response.end();
  });
  await own.register(["price_increased"], url);
  const event = await own.publish();

  await own.show("deliveries");
  await own.fill("Event id", event);
  await own.press("Enter");
  await rowOf("webhook.verification").waitFor({ state: "detached" });
  await rowOf(event).getByRole("link", { name: "#" }).click();
  await see(/next attempt in \d+ min/);
  expect(await textOf("Answer body of attempt 1")).toBe(SHOWN.slice(0, 6).join("\n"));
  expect(await textOf("Answer headers of attempt 1")).toContain(
    `x-hostile: ${HOSTILE.slice(0, 3).join("")}`,
  );
  expect(await textOf("Request headers of attempt 1")).toMatch(/X-Service-Signature: not shown/);

  const bodyOf = (attempt: number) =>
    page.getByRole("region", { name: `Answer body of attempt ${attempt}` });
  await control.advance({ minutes: 11 });
  await bodyOf(2).waitFor();
  // What the reader has opened stays open.
  expect(await bodyOf(1).isVisible()).toBe(true);
  isBroken = false;
  await control.advance({ minutes: 11 });
  await own.seeBadge("delivered");
  await own.click("Redeliver");
  await see("Repeats");
  await own.seeBadge("delivered");
  expect(signals.map((signal) => JSON.parse(signal.body.toString()).id as string)).toEqual(
    Array(4).fill(event),
  );
  expect(await page.evaluate("globalThis.attacked ?? 0")).toBe(0);
});

test("with a control token the page asks for it, keeps it for the tab, and forgets a wrong one", async () => {
  const controlToken = "a-token-for-the-control-api";
  const { page, ...own } = await openDashboard({ controlToken, mayLog: /401/ });
  const give = async (token: string): Promise<void> => {
    await own.fill("Control token", token);
    await own.press("Enter");
  };
  await own.control.createAccount({ tier: "pro" });
  await give("wrong");
  await own.see("The emulator did not accept this token.");
  await give(controlToken);
  const keys = page.getByRole("link", { name: "Keys", exact: true });
  await keys.waitFor();
  await page.reload();
  await keys.waitFor();
  const kept = String(await page.evaluate("JSON.stringify({...localStorage})"));
  expect(`${kept} ${page.url()}`).not.toContain(controlToken);
});

test("products are followed, a signal is published, and the way of its delivery is one click away", async () => {
  const own = await openWithAccount({ mayLog: /404/ });
  const { page, see, click, follow, control, slug } = own;
  const other = own.slugs[9] ?? "";
  const followed = async (): Promise<string[]> =>
    (await control.listFollows({ account_id: 1 })).items.map((each) => each.slug);
  await own.show("");
  await follow(/follow a product/i);
  await own.register(["price_increased"]);
  await own.fill("Slug", other);
  await click("Follow");
  await page.getByRole("button", { name: `Stop following ${other}` }).waitFor();
  expect(await followed()).toEqual([other]);
  await own.fill("Slug", slug);
  await click("Follow");
  await see(`Ada follows ${slug}.`);
  await click(`Stop following ${other}`);
  await see(`${other} is not followed any more.`);
  expect(await followed()).toEqual([slug]);

  const publish = own.panel("Publish a signal");
  const type = publish.getByLabel("Signal type");
  const product = publish.getByRole("combobox", { name: "Product" });
  expect(await type.locator("option").allInnerTexts()).toEqual(SIGNAL_TYPES);
  await type.selectOption("new_feature");
  await product.fill(slug);
  await click("Publish");
  await see("no follower has an active registration for this signal type");
  await type.selectOption("price_increased");
  await click("Publish");
  await see("sent to 1 registration");
  await product.fill("no-such-product");
  await click("Publish");
  await page.getByRole("alert").getByText("There is no product with this slug.").waitFor();

  await control.settle();
  await follow(/^sig_/);
  await page.locator(".timeline li", { hasText: "200" }).first().waitFor();
  await follow("Overview");
  await own.panel("Last deliveries").getByText("price_increased").first().waitFor();
  expect(await page.getByText("make an API key").count()).toBe(0);
});

test("the clock advances by buttons, to a moment and to the next month's signals, and says what was sent", async () => {
  const { see, click, control, ...own } = await openWithAccount();
  await own.register(SIGNAL_TYPES.slice(0, 30));
  await control.follow({ account_id: 1, slugs: own.slugs });
  const now = async (): Promise<number> => Date.parse((await control.now()).now);
  await own.show("clock");
  await click("A day");
  await see("It is 2026-11-01 20:00:00 UTC.");
  expect(await now()).toBe(BEGINNING + 24 * HOUR_MS);

  const meanwhile = own.panel("What was sent meanwhile").locator("dd");
  expect((await meanwhile.allInnerTexts()).slice(0, 3)).toEqual(["0", "0", "0"]);
  await click("To the next month's signals");
  await expect.poll(() => meanwhile.first().innerText(), { timeout: 20_000 }).not.toBe("0");
  const { items } = await control.listDeliveries({ limit: 500 });
  const sent = items.filter(({ event_type }) => event_type === "signal.published");
  expect(sent.length).toBeGreaterThan(0);
  const [published, ...others] = (await meanwhile.allInnerTexts()).map((text) =>
    Number(text.replace(",", "")),
  );
  expect(published).toBeGreaterThan(0);
  expect(others.slice(0, 2)).toEqual([sent.length, sent.length]);

  await own.fill("To a moment, in UTC", "2026-12-01T12:30");
  await click("Advance");
  await see("It is 2026-12-01 12:30:00 UTC");
  expect(await now()).toBe(Date.UTC(2026, 11, 1, 12, 30));
});

test("a view that is left advances the clock no further", async () => {
  const { page, control, ...own } = await openWithAccount();
  await own.show("clock");
  let release: () => void = () => {};
  const released = new Promise<void>((resume) => (release = resume));
  const held = page.waitForRequest("**/clock/advance");
  await page.route("**/clock/advance", async (route) => {
    await released;
    await route.continue();
  });
  await own.click("To the next month's signals");
  await held;
  await own.follow("Keys");
  await page.getByRole("heading", { level: 1, name: "Keys" }).waitFor();
  const answered = page.waitForResponse("**/clock/advance");
  release();
  await (await answered).finished();
  // A further step would have been asked for by now.
  await page.evaluate("fetch('../clock').then((answer) => answer.text())");
  expect(Date.parse((await control.now()).now)).toBe(BEGINNING + 6 * HOUR_MS);
});

test("a fault makes the next delivery fail and an operation answer 503, until it is cleared", async () => {
  const { panel, show, control, ask, key, ...own } = await openWithAccount();
  const id = await own.register(["price_increased"]);
  await own.followFirst();
  await show("faults");
  const deliveries = panel("Faults of deliveries");
  const operations = panel("Faults of the REST API");
  const set = async (kind: string, value: string): Promise<void> => {
    await deliveries.getByLabel("Fault").selectOption(kind);
    await deliveries.getByLabel("Status or ms").fill(value);
    await deliveries.getByRole("button", { name: "Set" }).click();
  };
  await set("latency", "10");
  await deliveries.getByText("latency 10").waitFor();
  await own.click(`Clear the faults of ${id}`);
  await deliveries.getByText("No fault is set.").waitFor();
  await deliveries.getByLabel("Requests").fill("1");
  await set("status", "507");
  await deliveries.getByText("the next 1").waitFor();
  const event_id = await own.publish();
  await control.settle();
  await deliveries.getByText("No fault is set.").waitFor();
  const [delivery] = (await control.listDeliveries({ event_id })).items;
  expect(delivery).toMatchObject({
    state: "waiting",
    attempts: [{ faults: [{ kind: "status", value: 507 }] }],
  });
  await show("");
  for (const text of ["next attempt", "price_increased", "taken for 507, the receiver said"])
    await panel("Last deliveries").getByText(text).waitFor();

  const rankings = async (): Promise<number> => (await ask("/research/rankings", { key })).status;
  await show("faults");
  await operations.getByLabel("Operation").selectOption("rankings");
  await operations.getByRole("button", { name: "Set" }).click();
  await operations.getByText("until cleared").waitFor();
  expect(await rankings()).toBe(503);
  await own.click("Clear the faults of rankings");
  await operations.getByText("No fault is set.").waitFor();
  expect(await rankings()).toBe(200);
});

test("the month's quota is shown", async () => {
  const { see, show, ask, key } = await openWithAccount({ tier: "developer" });
  // A first call was made for the slugs.
  for (let call = 0; call < 2; call++) await ask("/research/rankings", { key });
  await show("");
  await see("3 of 50");
});

test("hostile names, slugs and addresses run nothing, and hide nothing", async () => {
  const name = HOSTILE.join(" ").slice(0, 200);
  const { page, show, ...own } = await openWithAccount({ name, mayLog: /40[04]/ });
  const hash = encodeURIComponent(HOSTILE.join(""));
  const below = ["deliveries", "events", "webhooks"].map((view) => `${view}/${hash}`);
  for (const view of ["", "clock", "faults", ...below, hash, "signals"]) {
    await show(view);
    await page.getByRole("heading", { level: 1 }).waitFor();
    expect(await page.evaluate("globalThis.attacked")).toBeUndefined();
    expect(await page.locator("body").innerText()).not.toMatch(/[\p{Cf}\p{Co}\p{Cs}]/u);
    expect([view, await overflowOf(page)]).toEqual([view, 0]);
  }
  expect(await page.locator("header").innerText()).toContain("<script>");
  await own.fill("Slug", HOSTILE[0] ?? "");
  await own.click("Follow");
  await page.getByRole("alert").getByText("there is no product with this slug").waitFor();
  expect(await page.evaluate("globalThis.attacked")).toBeUndefined();
});

test("no view has a violation by axe-core or scrolls sideways, in light and dark, narrow and wide", async () => {
  const { page, click, control, ...own } = await openWithAccount();
  const { url } = await serveEndpoint(
    (_request, response) => void response.writeHead(500).end(HOSTILE.join("")),
  );
  await own.followFirst();
  const registration_id = await own.register(["price_increased"], url);
  const pending = await own.register(["new_model"], "http://127.0.0.1:1/never");
  await own.publish();
  await control.settle();
  await control.setDeliveryFault({ registration_id, kind: "latency", value: 9, times: 3 });
  const { items } = await control.listDeliveries({ registration_id, limit: 1 });
  const views: readonly (readonly [view: string, ready: string, button?: string])[] = [
    ["", "price_increased"],
    ["keys", "API keys of Ada", "Make a key"],
    ["webhooks", "pending"],
    ["webhooks/new", "Signal types"],
    [`webhooks/${pending}`, "Handshake", "Rotate the secret"],
    ["deliveries", "next attempt"],
    [`deliveries/${items[0]?.delivery_id ?? 0}`, "Attempt 1"],
    ["signals", "Stop following"],
    ["clock", "Advance the clock", "A minute"],
    ["faults", "latency 9"],
  ];
  for (const [view, ready, button] of views) {
    await own.show(view);
    await page.locator("main").getByText(ready).first().waitFor();
    if (button !== undefined) await click(button);
    expect(await faultsOf(page, `dashboard ${view}`)).toEqual([]);
  }
});

test("it works behind a proxy that strips a prefix", async () => {
  const { page, see, follow, emulator } = await openDashboard();
  await emulator.control.createAccount({ tier: "pro" });
  const below = await strippingProxy("/some/where", emulator.url);
  await page.goto(`${below}/`);
  await follow("Webhooks");
  await see("This account has no webhook yet.");
  expect(page.url()).toBe(`${below}/_emulator/ui/#/webhooks`);
});
