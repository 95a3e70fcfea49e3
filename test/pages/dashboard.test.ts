import { request, type IncomingMessage } from "node:http";
import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import type { EmulatorOptions } from "../../src/emulator/instance/options.js";
import { systemClock } from "../../src/time/clock.js";
import { serveReceiver } from "../cli/serve-requests.js";
import { BEGINNING, startEmulator, type RunningEmulator } from "../emulator/start-emulator.js";
import { listen } from "../http/serve.js";
import { serveEndpoint } from "../unit/emulator/webhooks/webhook-world.js";
import { hasFocus, loadedBytes, overflowOf, tabTo, violationsOf } from "./page-checks.js";
import { openContext } from "./start-browser.js";

interface Opened extends RunningEmulator {
  page: Page;
  troubles: string[];
  /** Shows a view. */
  show(view: string): Promise<void>;
}

const startedAt = Date.now();
/** Runs as time does, from the beginning of the usual data. */
const clock = { ...systemClock, now: () => BEGINNING + Date.now() - startedAt };

/** An emulator that signs by the machine's clock, and its dashboard in a browser. */
async function openDashboard(options: EmulatorOptions = {}): Promise<Opened> {
  const running = await startEmulator({
    clock,
    assumptions: { allowLoopbackHttp: true, signatureClock: "machine", retrySeconds: "600,600" },
    ...options,
  });
  const { context, troubles } = await openContext();
  onTestFinished(() => context.close());
  const page = await context.newPage();
  await page.goto(`${running.emulator.url}/`);
  return {
    ...running,
    page,
    troubles,
    show: async (view) => void (await page.goto(`${running.emulator.url}/_emulator/ui/#/${view}`)),
  };
}

const clickButton = (page: Page, name: string): Promise<void> =>
  page.getByRole("button", { name, exact: true }).click();
const secretIn = (page: Page, label: string): Promise<string> =>
  page.getByRole("region", { name: label, exact: true }).innerText();
const waitForBadge = (page: Page, text: string): Promise<void> =>
  page
    .locator(".badge", { hasText: new RegExp(`^${text}$`) })
    .first()
    .waitFor();
const rowOf = (page: Page, text: string) => page.getByRole("row").filter({ hasText: text });

/** A product that the account follows. */
async function followedProduct({ emulator, ask }: RunningEmulator, account_id: number, key: string): Promise<string> {
  const { body } = await ask("/research/rankings?limit=1", { key });
  const slug = (body["items"] as { slug: string }[])[0]?.slug ?? "";
  await emulator.control.follow({ account_id, slugs: [slug] });
  return slug;
}

test("the first account, and a key that is shown once and can be revoked", async () => {
  const own = await openDashboard();
  const { page, emulator, ask, troubles } = own;
  await page.getByLabel("Name").fill("Ada & <b>Co</b>");
  await clickButton(page, "Make an account");
  await page.getByRole("link", { name: "Keys", exact: true }).click();
  await page.getByText("This account has no key yet.").waitFor();
  await page.getByRole("checkbox", { name: /^mcp:tools/ }).uncheck();
  await clickButton(page, "Make a key");
  const key = await secretIn(page, "The new API key");
  expect((await ask("/research/rankings?limit=1", { key })).status).toBe(200);
  const [account] = (await emulator.control.listAccounts()).items;
  const [listed] = (await emulator.control.listKeys({ account_id: account?.account_id ?? 0 })).items;
  expect([account?.name, listed?.scopes]).toEqual([
    "Ada & <b>Co</b>",
    ["research:read", "research:execute", "webhooks:manage"],
  ]);

  await page.reload();
  await rowOf(page, listed?.hint ?? "?").waitFor();
  expect(await page.content()).not.toContain(key);
  expect(await page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")).not.toContain(key);
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
  const own = await openDashboard();
  const { page, emulator, troubles, show } = own;
  const { key, accountId } = await own.account("pro");
  const slug = await followedProduct(own, accountId, key);
  const secrets: string[] = [];
  const signals: string[] = [];
  const { url } = await serveReceiver({
    clock,
    secrets: () => [...secrets],
    onSignal: ({ id }) => void signals.push(id),
  });

  await show("keys");
  await clickButton(page, "Make a key");
  const madeKey = await secretIn(page, "The new API key");
  await page.getByRole("link", { name: "Webhooks", exact: true }).click();
  await page.getByRole("link", { name: "Register a webhook" }).first().click();
  expect(await page.getByLabel("API key").inputValue()).toBe(madeKey);
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
  await clickButton(page, "I have stored it");
  expect(await page.content()).not.toContain(rotated);

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

test("what the API refuses is said in its words", async () => {
  const own = await openDashboard();
  const { page, show, emulator, troubles } = own;
  const { key, accountId } = await own.account("pro", { scopes: ["research:read"] });
  await show("webhooks/new");
  await page.getByLabel("Endpoint").fill("https://receiver.example/hook");
  await page.getByLabel("API key").fill(key);
  for (const type of ["price_increased", "new_model"]) await page.getByLabel(type, { exact: true }).check();
  await clickButton(page, "Register");
  await page.getByRole("alert").filter({ hasText: "webhooks:manage" }).waitFor();
  await page.getByLabel("API key").fill((await emulator.control.createKey({ account_id: accountId })).key);
  await clickButton(page, "Register");
  await secretIn(page, "The signing secret");
  const [registration] = (await emulator.control.listRegistrations({})).items;
  expect(registration?.signal_types).toEqual(["price_increased", "new_model"]);
  expect(troubles).toEqual(["Failed to load resource: the server responded with a status of 403 (Forbidden)"]);
});

const HOSTILE = [
  `<script>globalThis.attacked = 1</script>`,
  `<img src=x onerror="globalThis.attacked = 2">`,
  `<style>*{display:none}</style>`,
  "\u202Egpj.exe\u202C\u0007\u001B[2J\u200B",
];

test("a failing receiver with hostile answers: every attempt, the retries, and a redelivery", async () => {
  const own = await openDashboard();
  const { page, emulator, show, troubles } = own;
  const { key, accountId } = await own.account("pro");
  const slug = await followedProduct(own, accountId, key);
  let isBroken = true;
  const { url, signals } = await serveEndpoint((_request, response) => {
    const headers = { "Content-Type": "text/html", "X-Hostile": HOSTILE.slice(0, 3).join("") };
    if (isBroken) response.writeHead(500, headers).end(HOSTILE.join("\n"));
    else response.end();
  });
  const hook = { url, signal_types: ["price_increased"] };
  await own.ask("/alerts/webhooks", { key, body: hook });
  await emulator.control.settle();
  const { event_id } = await emulator.control.publishSignal({ signal_type: "price_increased", slug });

  await show("deliveries");
  await page.getByLabel("Event id").fill(event_id);
  await page.keyboard.press("Enter");
  await rowOf(page, "webhook.verification").waitFor({ state: "detached" });
  await rowOf(page, event_id).getByRole("link", { name: "#" }).click();
  await page.getByText(/next attempt in \d+ min/).waitFor();
  const body = page.getByRole("region", { name: "Answer body of attempt 1" });
  expect(await body.innerText()).toBe(
    [...HOSTILE.slice(0, 3), "\\u202egpj.exe\\u202c\\u0007\\u001b[2J\\u200b"].join("\n"),
  );
  expect(await page.getByRole("region", { name: "Answer headers of attempt 1" }).innerText()).toContain(
    `x-hostile: ${HOSTILE.slice(0, 3).join("")}`,
  );
  expect(await page.getByRole("region", { name: "Request headers of attempt 1" }).innerText()).toMatch(
    /X-Service-Signature: not shown/,
  );

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
  expect(signals.map((signal) => JSON.parse(signal.body.toString()).id as string)).toEqual(Array(4).fill(event_id));
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

test("the keyboard alone makes a key, revokes it and registers a webhook", async () => {
  const { page, show, emulator, troubles } = await openDashboard();
  const { account_id } = await emulator.control.createAccount({ tier: "pro", name: "First" });
  // That one is revoked, and the one that the page makes registers the webhook.
  await emulator.control.createKey({ account_id });
  const press = (key: string): Promise<void> => page.keyboard.press(key);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await tabTo(page, "link", "Skip to the content");
  await tabTo(page, "link", "Keys");
  await press("Enter");
  await page.getByText("API keys of First").waitFor();
  await tabTo(page, "button", "Make a key");
  await press("Enter");
  const once = page.locator(".once");
  await once.waitFor();
  expect(await hasFocus(once)).toBe(true);
  const hint = await page.getByRole("cell").first().innerText();
  await tabTo(page, "button", "Copy: The new API key");
  await show("keys");
  const revoke = `Revoke ${hint.replace("…", "")}`;
  await page.getByRole("button", { name: revoke }).waitFor();
  await tabTo(page, "button", revoke);
  await press("Enter");
  await page.getByRole("dialog").waitFor();
  await press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect(await hasFocus(page.getByRole("button", { name: revoke }))).toBe(true);
  await press("Enter");
  await tabTo(page, "button", "Revoke");
  await press("Enter");
  await waitForBadge(page, "revoked");

  await tabTo(page, "link", "Webhooks");
  await press("Enter");
  await page.getByText("This account has no webhook yet.").waitFor();
  await page.getByRole("link", { name: "Register a webhook" }).first().focus();
  await press("Enter");
  await tabTo(page, "textbox", "Endpoint");
  await page.keyboard.type("https://receiver.example/hook");
  await tabTo(page, "checkbox", "price_increased");
  await press("Space");
  await tabTo(page, "button", "Register");
  await press("Enter");
  await waitForBadge(page, "pending");
  expect(troubles).toEqual([]);
});

test("no view has a violation by axe-core or scrolls sideways, in light and dark, narrow and wide", async () => {
  const own = await openDashboard();
  const { page, emulator, show, troubles } = own;
  const { account_id } = await emulator.control.createAccount({ tier: "pro", name: "First" });
  const { key } = await emulator.control.createKey({ account_id });
  const { url } = await serveEndpoint((_request, response) => void response.writeHead(500).end(HOSTILE.join("")));
  const slug = await followedProduct(own, account_id, key);
  const { id } = (await own.ask("/alerts/webhooks", { key, body: { url, signal_types: ["price_increased"] } })).body;
  await own.ask("/alerts/webhooks", { key, body: { url: "http://127.0.0.1:1/never", signal_types: ["new_model"] } });
  await emulator.control.settle();
  await emulator.control.publishSignal({ signal_type: "price_increased", slug });
  await emulator.control.advance({ minutes: 11 });
  const pending = (await emulator.control.listRegistrations({})).items.find(({ status }) => status === "pending");
  const { items } = await emulator.control.listDeliveries({ registration_id: String(id), limit: 1 });

  const views: readonly (readonly [view: string, ready: string, act?: () => Promise<void>])[] = [
    ["keys", "API keys of First", () => clickButton(page, "Make a key")],
    [
      "keys",
      "API keys of First",
      () =>
        page
          .getByRole("button", { name: /^Revoke/ })
          .first()
          .click(),
    ],
    ["webhooks", "active"],
    ["webhooks/new", "Signal types"],
    [`webhooks/${String(id)}`, "Latest deliveries", () => clickButton(page, "Rotate the secret")],
    [`webhooks/${pending?.id ?? ""}`, "Handshake"],
    ["deliveries", "next attempt"],
    [`deliveries/${items[0]?.delivery_id ?? 0}`, "Attempt 2"],
  ];
  const found: unknown[] = [];
  for (const [index, [view, ready, act]] of views.entries()) {
    const colorScheme = index % 2 === 0 ? "light" : "dark";
    await page.emulateMedia({ colorScheme });
    await show(view);
    await page.reload();
    await page.locator("main").getByText(ready).first().waitFor();
    await act?.();
    for (const width of [360, 1024, 1920]) {
      await page.setViewportSize({ width, height: 800 });
      found.push(...((await overflowOf(page)) > 0 ? [`${view} scrolls sideways at ${width}`] : []));
    }
    await page.setViewportSize({ width: index % 3 === 0 ? 360 : 1024, height: 800 });
    found.push(...(await violationsOf(page)).map((violation) => `${view} ${colorScheme} ${violation}`));
  }
  expect(found).toEqual([]);
  expect(troubles).toEqual([]);
});

/** A proxy that serves the emulator below a path, and takes that path away. */
async function serveBelow(prefix: string, target: string): Promise<string> {
  const port = await listen((incoming: IncomingMessage, response) => {
    const { url = "", method, headers } = incoming;
    const path = url.startsWith(prefix) ? url.slice(prefix.length) : "/outside-of-the-prefix";
    const passed = request(`${target}${path}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    incoming.pipe(passed);
  });
  return `http://127.0.0.1:${port}${prefix}`;
}

test("it works behind a proxy that strips a prefix", async () => {
  const { page, emulator, troubles } = await openDashboard();
  await emulator.control.createAccount({ tier: "pro" });
  const below = await serveBelow("/some/where", emulator.url);
  await page.goto(`${below}/`);
  await page.getByRole("link", { name: "Webhooks", exact: true }).click();
  await page.getByText("This account has no webhook yet.").waitFor();
  expect(page.url()).toBe(`${below}/_emulator/ui/#/webhooks`);
  expect(troubles).toEqual([]);
});

test("it loads less than 30 KB", () => {
  expect(loadedBytes("dashboard")).toBeGreaterThan(10_000);
  expect(loadedBytes("dashboard")).toBeLessThan(30_000);
});
