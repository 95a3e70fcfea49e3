import { expect, test } from "vitest";
import { SIGNAL_TYPES } from "../../../src/kit/senders/signals/signal-types.js";
import { serveReceiver } from "../../cli/serve-requests.js";
import { BEGINNING } from "../../emulator/start-emulator.js";
import { serveEndpoint } from "../../unit/service/emulator/webhooks/webhook-world.js";
import { HOSTILE } from "../hostile-texts.js";
import {
  clickButton,
  HOUR_MS,
  openDashboard,
  openWithAccount,
  panel,
  rowOf,
  RUNNING_CLOCK,
  secretIn,
  unexpected,
  waitForBadge,
} from "../open-dashboard.js";
import { faultsOf, hasFocus, overflowOf, tabTo } from "../page-checks.js";
import { strippingProxy } from "../serve-page.js";

test("the first account, and a key that is shown once and can be revoked", async () => {
  const own = await openDashboard();
  const { page, emulator, ask, troubles } = own;
  await page.getByLabel("Name").fill("Ada & <b>Co</b>");
  await clickButton(page, "Make an account");
  await page.getByRole("link", { name: "Keys", exact: true }).click();
  await page.getByText("This account has no key yet.").waitFor();
  await page.getByRole("checkbox", { name: /^mcp:tools/ }).uncheck();
  await tabTo(page, "button", "Make a key");
  await page.keyboard.press("Enter");
  const key = await secretIn(page, "The new API key");
  expect(await hasFocus(page.locator(".once"))).toBe(true);
  expect((await ask("/research/rankings?limit=1", { key })).status).toBe(200);
  const [account] = (await emulator.control.listAccounts()).items;
  const [listed] = (await emulator.control.listKeys({ account_id: account?.account_id ?? 0 }))
    .items;
  expect([account?.name, listed?.scopes]).toEqual([
    "Ada & <b>Co</b>",
    ["research:read", "research:execute", "webhooks:manage"],
  ]);

  await page.reload();
  await rowOf(page, listed?.hint ?? "?").waitFor();
  expect(await page.content()).not.toContain(key);
  expect(
    await page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])"),
  ).not.toContain(key);
  await rowOf(page, listed?.hint ?? "?")
    .getByRole("button")
    .click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await waitForBadge(page, "revoked");
  expect((await ask("/research/rankings?limit=1", { key })).status).toBe(401);

  await page.getByLabel("Name").fill("Second");
  await page.getByLabel("Tier").selectOption("enterprise");
  await clickButton(page, "Make an account");
  await page.getByText("API keys of Second").waitFor();
  expect((await emulator.control.listAccounts()).items[1]?.tier).toBe("enterprise");
  expect(troubles).toEqual([]);
});

test("a webhook with a real receiver: registered, verified, tested, rotated, paused, resumed, deleted", async () => {
  const { page, emulator, troubles, show, slugs } = await openWithAccount({ clock: RUNNING_CLOCK });
  const [slug = ""] = slugs;
  await emulator.control.follow({ account_id: 1, slugs: [slug] });
  const secrets: string[] = [];
  const signals: string[] = [];
  const { url } = await serveReceiver({
    clock: RUNNING_CLOCK,
    secrets: () => [...secrets],
    onSignal: ({ id }) => void signals.push(id),
  });

  await show("keys");
  await clickButton(page, "Make a key");
  await secretIn(page, "The new API key");
  await page.getByRole("link", { name: "Webhooks", exact: true }).click();
  await page.getByRole("link", { name: "Register a webhook" }).first().click();
  await page.getByText("The API key that this page has is used.").waitFor();
  await page.getByLabel("Endpoint").fill(url);
  await page.getByLabel("price_increased", { exact: true }).check();
  await clickButton(page, "Register");
  const secret = await secretIn(page, "The signing secret");
  secrets.push(secret);
  // The receiver waits for the secret of a verification, and the page for the receiver.
  await waitForBadge(page, "active");
  await page.getByText("Latest deliveries").waitFor();
  await clickButton(page, "I have stored it");
  expect(await page.content()).not.toContain(secret);

  await clickButton(page, "Send a test event");
  await rowOf(page, "webhook.test").filter({ hasText: "delivered" }).waitFor();
  const publish = () => emulator.control.publishSignal({ signal_type: "price_increased", slug });
  const first = await publish();
  await rowOf(page, first.event_id).filter({ hasText: "delivered" }).waitFor();

  await clickButton(page, "Rotate the secret");
  await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click();
  const rotated = await secretIn(page, "The signing secret");
  expect(rotated).not.toBe(secret);
  const second = await publish();
  await rowOf(page, second.event_id).filter({ hasText: "401" }).waitFor();
  secrets.push(rotated);
  await emulator.control.advance({ minutes: 11 });
  await rowOf(page, second.event_id).filter({ hasText: "delivered" }).waitFor();
  // A reader who leaves the view has seen it, too.
  await page.getByRole("link", { name: "Keys", exact: true }).click();
  await page.getByText("API keys of Ada").waitFor();
  await page.goBack();
  await waitForBadge(page, "active");
  expect(await page.content()).not.toContain(rotated);

  await page.getByRole("link", { name: "Edit", exact: true }).click();
  await page.getByText("1 of at most 30 signal types chosen").waitFor();
  await clickButton(page, "All of Product");
  await page.getByText("7 of at most 30 signal types chosen").waitFor();
  await clickButton(page, "Save");
  await page.getByText("price_increased, new_feature").waitFor();

  await clickButton(page, "Pause");
  await waitForBadge(page, "paused");
  const third = await publish();
  await emulator.control.settle();
  await clickButton(page, "Resume");
  await waitForBadge(page, "active");
  await emulator.control.settle();
  expect(signals).toEqual([first.event_id, second.event_id]);
  expect((await emulator.control.listDeliveries({ event_id: third.event_id })).items).toEqual([]);

  await clickButton(page, "Delete");
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await waitForBadge(page, "deleted");
  expect(await page.getByRole("button", { name: "Rotate the secret" }).count()).toBe(0);
  expect(troubles).toEqual([]);
});

test("a failing receiver with hostile answers: every attempt, the retries, and a redelivery", async () => {
  const own = await openWithAccount({ clock: RUNNING_CLOCK });
  const { page, emulator, show, troubles, key, slugs } = own;
  const [slug = ""] = slugs;
  await emulator.control.follow({ account_id: 1, slugs: [slug] });
  let isBroken = true;
  const { url, signals } = await serveEndpoint((_request, response) => {
    const headers = { "Content-Type": "text/html", "X-Hostile": HOSTILE.slice(0, 3).join("") };
    if (isBroken) response.writeHead(500, headers).end(HOSTILE.slice(0, 6).join("\n"));
    else response.end();
  });
  const hook = { url, signal_types: ["price_increased"] };
  await own.ask("/alerts/webhooks", { key, body: hook });
  await emulator.control.settle();
  const { event_id } = await emulator.control.publishSignal({
    signal_type: "price_increased",
    slug,
  });

  await show("deliveries");
  await page.getByLabel("Event id").fill(event_id);
  await page.keyboard.press("Enter");
  await rowOf(page, "webhook.verification").waitFor({ state: "detached" });
  await rowOf(page, event_id).getByRole("link", { name: "#" }).click();
  await page.getByText(/next attempt in \d+ min/).waitFor();
  const body = page.getByRole("region", { name: "Answer body of attempt 1" });
  expect(await body.innerText()).toBe(
    [...HOSTILE.slice(0, 4), "\\u202egpj.exe\\u202c", "\\u0007\\u001b[2J\\u0008"].join("\n"),
  );
  expect(
    await page.getByRole("region", { name: "Answer headers of attempt 1" }).innerText(),
  ).toContain(`x-hostile: ${HOSTILE.slice(0, 3).join("")}`);
  expect(
    await page.getByRole("region", { name: "Request headers of attempt 1" }).innerText(),
  ).toMatch(/X-Service-Signature: not shown/);

  await emulator.control.advance({ minutes: 11 });
  await page.getByRole("region", { name: "Answer body of attempt 2" }).waitFor();
  // What the reader has opened stays open.
  expect(await body.isVisible()).toBe(true);
  isBroken = false;
  await emulator.control.advance({ minutes: 11 });
  await waitForBadge(page, "delivered");
  await clickButton(page, "Redeliver");
  await page.getByText("Repeats").waitFor();
  await waitForBadge(page, "delivered");
  expect(signals.map((signal) => JSON.parse(signal.body.toString()).id as string)).toEqual(
    Array(4).fill(event_id),
  );
  expect(await page.evaluate("globalThis.attacked ?? 0")).toBe(0);
  expect(troubles).toEqual([]);
});

test("with a control token the page asks for it, keeps it for the tab, and forgets a wrong one", async () => {
  const controlToken = "a-token-for-the-control-api";
  const { page, emulator, troubles } = await openDashboard({ controlToken });
  await emulator.control.createAccount({ tier: "pro" });
  await page.getByLabel("Control token").fill("wrong");
  await page.keyboard.press("Enter");
  await page.getByText("The emulator did not accept this token.").waitFor();
  await page.getByLabel("Control token").fill(controlToken);
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "Keys", exact: true }).waitFor();
  await page.reload();
  await page.getByRole("link", { name: "Keys", exact: true }).waitFor();
  expect(await page.evaluate("JSON.stringify({...localStorage})")).not.toContain(controlToken);
  expect(page.url()).not.toContain(controlToken);
  expect(troubles.filter((trouble) => !trouble.includes("status of 401"))).toEqual([]);
});

test("products are followed, a signal is published, and the way of its delivery is one click away", async () => {
  const own = await openWithAccount();
  const { page, show, emulator, slugs } = own;
  const [slug = ""] = slugs;
  await show("");
  await page.getByRole("link", { name: "follow a product" }).click();
  await own.register(["price_increased"]);
  const other = slugs[9] ?? "";
  const followed = async (): Promise<string[]> =>
    (await emulator.control.listFollows({ account_id: 1 })).items.map((follow) => follow.slug);
  await page.getByLabel("Slug").fill(other);
  await clickButton(page, "Follow");
  await page.getByRole("button", { name: `Stop following ${other}` }).waitFor();
  expect(await followed()).toEqual([other]);
  await page.getByLabel("Slug").fill(slug);
  await clickButton(page, "Follow");
  await page.getByText(`Ada follows ${slug}.`).waitFor();
  await clickButton(page, `Stop following ${other}`);
  await page.getByText(`${other} is not followed any more.`).waitFor();
  expect(await followed()).toEqual([slug]);

  const publish = panel(page, "Publish a signal");
  const type = publish.getByLabel("Signal type");
  expect(await type.locator("option").allInnerTexts()).toEqual(SIGNAL_TYPES);
  await type.selectOption("new_feature");
  await publish.getByRole("combobox", { name: "Product" }).fill(slug);
  await clickButton(page, "Publish");
  await page.getByText("no follower has an active registration for this signal type").waitFor();
  await type.selectOption("price_increased");
  await clickButton(page, "Publish");
  await page.getByText("sent to 1 registration").waitFor();
  await publish.getByRole("combobox", { name: "Product" }).fill("no-such-product");
  await clickButton(page, "Publish");
  await page.getByRole("alert").getByText("There is no product with this slug.").waitFor();

  await emulator.control.settle();
  await publish.getByRole("link", { name: /^sig_/ }).click();
  await page.locator(".timeline li", { hasText: "200" }).first().waitFor();
  await page.getByRole("link", { name: "Overview", exact: true }).click();
  await panel(page, "Last deliveries").getByText("price_increased").first().waitFor();
  expect(await page.getByText("make an API key").count()).toBe(0);
  expect(unexpected(own.troubles)).toEqual([]);
});

test("the clock advances by buttons, to a moment and to the next month's signals, and says what was sent", async () => {
  const own = await openWithAccount();
  const { page, show, emulator, slugs } = own;
  await own.register(SIGNAL_TYPES.slice(0, 30));
  await emulator.control.follow({ account_id: 1, slugs });
  const now = async (): Promise<number> => Date.parse((await emulator.control.now()).now);
  await show("clock");
  await clickButton(page, "A day");
  await page.getByText("It is 2026-11-01 20:00:00 UTC.").waitFor();
  expect(await now()).toBe(BEGINNING + 24 * HOUR_MS);

  const meanwhile = panel(page, "What was sent meanwhile").locator("dd");
  expect((await meanwhile.allInnerTexts()).slice(0, 3)).toEqual(["0", "0", "0"]);
  await clickButton(page, "To the next month's signals");
  await expect.poll(() => meanwhile.first().innerText(), { timeout: 20_000 }).not.toBe("0");
  const { items } = await emulator.control.listDeliveries({ limit: 500 });
  const sent = items.filter(({ event_type }) => event_type === "signal.published");
  expect(sent.length).toBeGreaterThan(0);
  const [published, created, delivered] = (await meanwhile.allInnerTexts()).map((text) =>
    Number(text.replace(",", "")),
  );
  expect(published).toBeGreaterThan(0);
  expect([created, delivered]).toEqual([sent.length, sent.length]);

  await page.getByLabel("To a moment, in UTC").fill("2026-12-01T12:30");
  await clickButton(page, "Advance");
  await page.getByText("It is 2026-12-01 12:30:00 UTC").waitFor();
  expect(await now()).toBe(Date.UTC(2026, 11, 1, 12, 30));
  expect(own.troubles).toEqual([]);
});

test("a view that is left advances the clock no further", async () => {
  const own = await openWithAccount();
  const { page, show, emulator } = own;
  await show("clock");
  let release: () => void = () => {};
  const released = new Promise<void>((resume) => (release = resume));
  const held = page.waitForRequest("**/clock/advance");
  await page.route("**/clock/advance", async (route) => {
    await released;
    await route.continue();
  });
  await clickButton(page, "To the next month's signals");
  await held;
  await page.getByRole("link", { name: "Keys", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "Keys" }).waitFor();
  const answered = page.waitForResponse("**/clock/advance");
  release();
  await (await answered).finished();
  // A further step would have been asked for by now.
  await page.evaluate("fetch('../clock').then((answer) => answer.text())");
  expect(Date.parse((await emulator.control.now()).now)).toBe(BEGINNING + 6 * HOUR_MS);
  expect(own.troubles).toEqual([]);
});

test("a fault makes the next delivery fail and an operation answer 503, until it is cleared", async () => {
  const own = await openWithAccount();
  const { page, show, emulator, slugs } = own;
  const [slug = ""] = slugs;
  const id = await own.register(["price_increased"]);
  await emulator.control.follow({ account_id: 1, slugs: [slug] });
  await show("faults");
  const deliveries = panel(page, "Faults of deliveries");
  await deliveries.getByLabel("Fault").selectOption("latency");
  await deliveries.getByLabel("Status or ms").fill("10");
  await deliveries.getByRole("button", { name: "Set" }).click();
  await deliveries.getByText("latency 10").waitFor();
  await deliveries.getByRole("button", { name: `Clear the faults of ${id}` }).click();
  await deliveries.getByText("No fault is set.").waitFor();
  await deliveries.getByLabel("Fault").selectOption("status");
  await deliveries.getByLabel("Status or ms").fill("507");
  await deliveries.getByLabel("Requests").fill("1");
  await deliveries.getByRole("button", { name: "Set" }).click();
  await deliveries.getByText("the next 1").waitFor();
  const { event_id } = await emulator.control.publishSignal({
    signal_type: "price_increased",
    slug,
  });
  await emulator.control.settle();
  await deliveries.getByText("No fault is set.").waitFor();
  const [delivery] = (await emulator.control.listDeliveries({ event_id })).items;
  expect(delivery).toMatchObject({
    state: "waiting",
    attempts: [{ faults: [{ kind: "status", value: 507 }] }],
  });
  await show("");
  await panel(page, "Last deliveries").getByText("next attempt").waitFor();
  await panel(page, "Last deliveries").getByText("price_increased").waitFor();
  await panel(page, "Last deliveries").getByText("taken for 507, the receiver said").waitFor();

  await show("faults");
  const operations = panel(page, "Faults of the REST API");
  await operations.getByLabel("Operation").selectOption("rankings");
  await operations.getByRole("button", { name: "Set" }).click();
  await operations.getByText("until cleared").waitFor();
  expect((await own.ask("/research/rankings", { key: own.key })).status).toBe(503);
  await operations.getByRole("button", { name: "Clear the faults of rankings" }).click();
  await operations.getByText("No fault is set.").waitFor();
  expect((await own.ask("/research/rankings", { key: own.key })).status).toBe(200);
  expect(unexpected(own.troubles)).toEqual([]);
});

test("the month's quota is shown", async () => {
  const own = await openWithAccount({ tier: "developer" });
  const { page, show, ask } = own;
  // A first call was made for the slugs.
  for (let call = 0; call < 2; call++) await ask("/research/rankings", { key: own.key });
  await show("");
  await page.getByText("3 of 50").waitFor();
  expect(own.troubles).toEqual([]);
});

test("hostile names, slugs and addresses run nothing, and hide nothing", async () => {
  const name = HOSTILE.join(" ").slice(0, 200);
  const own = await openWithAccount({ name });
  const { page, show } = own;
  const hash = encodeURIComponent(HOSTILE.join(""));
  const views = [
    "",
    "signals",
    "clock",
    "faults",
    `deliveries/${hash}`,
    `events/${hash}`,
    `webhooks/${hash}`,
    hash,
  ];
  for (const view of views) {
    await show(view);
    await page.getByRole("heading", { level: 1 }).waitFor();
    expect(await page.evaluate("globalThis.attacked")).toBeUndefined();
    expect(await page.locator("body").innerText()).not.toMatch(/[\p{Cf}\p{Co}\p{Cs}]/u);
    expect([view, await overflowOf(page)]).toEqual([view, 0]);
  }
  expect(await page.locator("header").innerText()).toContain("<script>");
  await show("signals");
  await page.getByLabel("Slug").fill(HOSTILE[0] ?? "");
  await clickButton(page, "Follow");
  await page.getByRole("alert").getByText("there is no product with this slug").waitFor();
  expect(await page.evaluate("globalThis.attacked")).toBeUndefined();
  expect(unexpected(own.troubles)).toEqual([]);
});

test("no view has a violation by axe-core or scrolls sideways, in light and dark, narrow and wide", async () => {
  const own = await openWithAccount();
  const { page, emulator, show, key, slugs } = own;
  const [slug = ""] = slugs;
  const { url } = await serveEndpoint(
    (_request, response) => void response.writeHead(500).end(HOSTILE.join("")),
  );
  const { id } = (
    await own.ask("/alerts/webhooks", { key, body: { url, signal_types: ["price_increased"] } })
  ).body;
  await own.ask("/alerts/webhooks", {
    key,
    body: { url: "http://127.0.0.1:1/never", signal_types: ["new_model"] },
  });
  await emulator.control.follow({ account_id: 1, slugs: [slug] });
  await emulator.control.settle();
  await emulator.control.publishSignal({ signal_type: "price_increased", slug });
  await emulator.control.settle();
  await emulator.control.setDeliveryFault({
    registration_id: String(id),
    kind: "latency",
    value: 9,
    times: 3,
  });
  const pending = (await emulator.control.listRegistrations({})).items.find(
    ({ status }) => status === "pending",
  );
  const { items } = await emulator.control.listDeliveries({
    registration_id: String(id),
    limit: 1,
  });
  const views: readonly (readonly [view: string, ready: string, act?: () => Promise<void>])[] = [
    ["", "price_increased"],
    ["keys", "API keys of Ada", () => clickButton(page, "Make a key")],
    ["webhooks", "pending"],
    ["webhooks/new", "Signal types"],
    [`webhooks/${pending?.id ?? ""}`, "Handshake", () => clickButton(page, "Rotate the secret")],
    ["deliveries", "next attempt"],
    [`deliveries/${items[0]?.delivery_id ?? 0}`, "Attempt 1"],
    ["signals", "Stop following"],
    ["clock", "Advance the clock", () => clickButton(page, "A minute")],
    ["faults", "latency 9"],
  ];
  const found: string[] = [];
  for (const [view, ready, act] of views) {
    await show(view);
    await page.locator("main").getByText(ready).first().waitFor();
    await act?.();
    found.push(...(await faultsOf(page, `dashboard ${view}`)));
  }
  expect(found).toEqual([]);
  expect(own.troubles).toEqual([]);
});

test("it works behind a proxy that strips a prefix", async () => {
  const { page, emulator, troubles } = await openDashboard();
  await emulator.control.createAccount({ tier: "pro" });
  const below = await strippingProxy("/some/where", emulator.url);
  await page.goto(`${below}/`);
  await page.getByRole("link", { name: "Webhooks", exact: true }).click();
  await page.getByText("This account has no webhook yet.").waitFor();
  expect(page.url()).toBe(`${below}/_emulator/ui/#/webhooks`);
  expect(troubles).toEqual([]);
});
