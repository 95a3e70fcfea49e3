import { expect, test } from "vitest";
import { SIGNAL_TYPES } from "../../../src/kit/senders/signals/signal-types.js";
import { serveReceiver } from "../../cli/serve-requests.js";
import { BEGINNING } from "../../emulator/start-emulator.js";
import { serveEndpoint } from "../../unit/service/emulator/webhooks/webhook-world.js";
import { HOSTILE, SHOWN } from "../hostile-texts.js";
import { openDashboard, openWithAccount, RUNNING_CLOCK } from "../open-dashboard.js";
import { strippingProxy } from "../serve-page.js";

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
  await page.locator(".once:focus").waitFor();
  await own.look("dashboard keys");
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
  await own.seeState("revoked");
  expect((await ask("/research/rankings?limit=1", { key })).status).toBe(401);

  await fill("Name", "Second");
  await own.choose("Tier", "enterprise");
  await click("Make an account");
  await see("API keys of Second");
  expect((await control.listAccounts()).items[1]?.tier).toBe("enterprise");
});

test("a webhook with a real receiver: registered, verified, tested, rotated, paused, resumed, deleted", async () => {
  const own = await openWithAccount({ clock: RUNNING_CLOCK });
  const { page, see, click, follow, confirm, seeState, rowOf, control, publish } = own;
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
  await own.look("dashboard webhooks new");
  await own.fill("Endpoint", url);
  await page.getByLabel("price_increased", { exact: true }).check();
  await click("Register");
  const secret = await own.textOf("The signing secret");
  secrets.push(secret);
  // The receiver waits for the secret of a verification, and the page for the receiver.
  await seeState("active");
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
  await own.look("dashboard webhook");
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
  await seeState("active");
  expect(await page.content()).not.toContain(rotated);

  await follow("Edit");
  await see("1 of at most 30 signal types chosen");
  await click("All of Product");
  await see("7 of at most 30 signal types chosen");
  await click("Save");
  await see("price_increased, new_feature");

  await click("Pause");
  await seeState("paused");
  const third = await publish();
  await control.settle();
  await click("Resume");
  await seeState("active");
  await control.settle();
  expect(signals).toEqual([first, second]);
  expect((await control.listDeliveries({ event_id: third })).items).toEqual([]);

  await click("Delete");
  await confirm("Delete");
  await seeState("deleted");
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
  await page.getByRole("combobox", { name: "State" }).waitFor();
  expect(await page.getByText("Failed", { exact: true }).count()).toBe(0);
  await own.fill("Event id", event);
  await own.press("Enter");
  await rowOf("webhook.verification").waitFor({ state: "detached" });
  await own.look("dashboard deliveries");
  await rowOf(event).getByRole("link").click();
  await see(/\(in \d+ min\)/);
  expect(await textOf("Answer body of attempt 1")).toBe(SHOWN.slice(0, 6).join("\n"));
  expect(await textOf("Answer headers of attempt 1")).toContain(
    `x-hostile: ${HOSTILE.slice(0, 3).join("")}`,
  );
  expect(await textOf("Request headers of attempt 1")).toMatch(/X-Service-Signature: not shown/);

  await own.look("dashboard delivery");

  const bodyOf = (attempt: number) =>
    page.getByRole("region", { name: `Answer body of attempt ${attempt}` });
  await control.advance({ minutes: 11 });
  await bodyOf(2).waitFor();
  // What the reader has opened stays open.
  expect(await bodyOf(1).isVisible()).toBe(true);
  isBroken = false;
  await control.advance({ minutes: 11 });
  await own.seeState("delivered");
  await own.click("Redeliver");
  await see("Repeats");
  await own.seeState("delivered");
  expect(signals.map((signal) => JSON.parse(signal.body.toString()).id as string)).toEqual(
    Array(4).fill(event),
  );
  await own.show("webhooks");
  await rowOf(url.replace("http://", "")).waitFor();
  await own.register(["price_increased"], url);
  const links = page.locator("tbody a");
  await links.nth(1).waitFor();
  expect(new Set(await links.allInnerTexts()).size).toBe(2);
  await own.click("local time");
  await page.getByRole("button", { name: "UTC time" }).waitFor();
  await own.look("dashboard webhooks");
  await page.setViewportSize({ width: 360, height: 900 });
  expect((await page.locator("header").boundingBox())?.height).toBeLessThan(100);
  await own.expectHarmless();
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
  await own.seeLink("Keys");
  await page.reload();
  await own.seeLink("Keys");
  const kept = String(await page.evaluate("JSON.stringify({...localStorage})"));
  expect(`${kept} ${page.url()}`).not.toContain(controlToken);
});

test("products are followed, a signal is published, and the way of its delivery is one click away", async () => {
  const own = await openWithAccount({ mayLog: /404/ });
  const { page, see, click, follow, control, slug } = own;
  const other = own.slugs[9] ?? "";
  await own.show("");
  await follow(/follow a product/i);
  await own.register(["price_increased"]);
  const known = page.locator("label", { hasText: "Slug" }).locator("+ datalist option");
  await expect.poll(() => known.allTextContents()).toEqual(expect.arrayContaining(own.slugs));
  await own.fill("Slug", other);
  await click("Follow");
  await page.getByRole("button", { name: `Stop following ${other}` }).waitFor();
  await own.fill("Slug", slug);
  await click("Follow");
  await see(`Ada follows ${slug}.`);
  await click(`Stop following ${other}`);
  await see(`${other} is not followed any more.`);
  await page.getByRole("button", { name: `Stop following ${slug}` }).waitFor();
  await own.look("dashboard signals");

  const product = page.getByRole("combobox", { name: "Product" });
  const options = page.getByLabel("Signal type").locator("option");
  expect(await options.allInnerTexts()).toEqual(SIGNAL_TYPES);
  await own.choose("Signal type", "new_feature");
  await product.fill(slug);
  await click("Publish");
  await see("no follower has an active registration for this signal type");
  await own.choose("Signal type", "price_increased");
  await click("Publish");
  await see("sent to 1 registration");
  await product.fill("no-such-product");
  await click("Publish");
  await page.getByRole("alert").getByText("There is no product with this slug.").waitFor();

  await control.settle();
  await follow(/^sig_/);
  await page.locator(".timeline li", { hasText: "200" }).first().waitFor();
  await follow("Overview");
  await own.panel("Last deliveries").see("price_increased");
  expect(await page.getByText("make an API key").count()).toBe(0);
});

test("the clock advances by buttons, to a moment and to the next month's signals, and says what was sent", async () => {
  const { page, see, click, control, ...own } = await openWithAccount();
  await own.register(SIGNAL_TYPES.slice(0, 30));
  await control.follow({ account_id: 1, slugs: own.slugs });
  await own.show("clock");
  await click("A day");
  await see("It is 2026-11-01 20:00:00 UTC.");

  const meanwhile = page
    .locator("section", { has: page.getByRole("heading", { name: "What was sent meanwhile" }) })
    .locator("dd");
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
  expect((await control.now()).now).toMatch(/^2026-12-01T12:30:00/);
  await own.look("dashboard clock");
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
  expect(Date.parse((await control.now()).now)).toBe(BEGINNING + 6 * 3_600_000);
});

test("a fault makes the next delivery fail and an operation answer 503, until it is cleared", async () => {
  const { page, panel, show, control, ask, key, ...own } = await openWithAccount();
  const id = await own.register(["price_increased"]);
  await own.followFirst();
  await show("faults");
  const deliveries = panel("Faults of deliveries");
  await deliveries.choose("Fault", "latency");
  await deliveries.fill("Milliseconds", "10");
  await deliveries.click("Set");
  await deliveries.see("latency 10");
  await own.look("dashboard faults");
  await own.click(`Clear the faults of ${id}`);
  await deliveries.see("No fault is set.");
  await deliveries.choose("Fault", "reset");
  await page.getByLabel("Milliseconds").waitFor({ state: "detached" });
  await deliveries.choose("Fault", "status");
  await deliveries.fill("Status", "507");
  await deliveries.fill("Requests", "1");
  await deliveries.click("Set");
  await deliveries.see("the next 1");
  await own.publish();
  await control.settle();
  await deliveries.see("No fault is set.");
  await show("");
  for (const text of ["next attempt", "price_increased", "taken for 507, the receiver said"])
    await panel("Last deliveries").see(text);
  await own.look("dashboard");

  const rankings = async (): Promise<number> => (await ask("/research/rankings", { key })).status;
  await show("faults");
  const operations = panel("Faults of the REST API");
  await operations.choose("Operation", "rankings");
  await operations.click("Set");
  await operations.see("until cleared");
  expect(await rankings()).toBe(503);
  await own.click("Clear the faults of rankings");
  await operations.see("No fault is set.");
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
    await own.expectHarmless();
    expect(await page.locator("body").innerText()).not.toMatch(/[\p{Cf}\p{Co}\p{Cs}]/u);
  }
  expect(await page.locator("header").innerText()).toContain("<script>");
  await own.fill("Slug", HOSTILE[0] ?? "");
  await own.click("Follow");
  await page.getByRole("alert").getByText("there is no product with this slug").waitFor();
  await own.expectHarmless();
});

test("it works behind a proxy that strips a prefix", async () => {
  const { page, see, follow, emulator } = await openDashboard();
  await emulator.control.createAccount({ tier: "pro" });
  const below = await strippingProxy("/some/where", emulator.url);
  await page.goto(`${below}/`);
  await follow("Webhooks");
  await see("This account has no webhook yet.");
  expect(page.url()).toBe(`${below}/_emulator/ui/#/webhooks`);
  // Its live messages end before the proxy does.
  await page.close();
});
