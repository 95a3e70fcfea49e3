import type { Locator, Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { systemClock, type Clock } from "../../src/base/time/clock.js";
import { createManualClock } from "../../src/kit/testing/manual-clock.js";
import type { Tier } from "../../src/service/contract/access.js";
import type { EmulatorOptions } from "../../src/service/emulator/instance/options.js";
import { BEGINNING, startEmulator } from "../emulator/start-emulator.js";
import { serveEndpoint } from "../unit/service/emulator/webhooks/webhook-world.js";
import { openContext } from "./start-browser.js";

export const HOUR_MS = 3_600_000;

const startedAt = Date.now();
/** Runs as time does, from the beginning of the usual data. */
export const RUNNING_CLOCK = { ...systemClock, now: () => BEGINNING + Date.now() - startedAt };

/** An emulator that signs by the machine's clock, and its dashboard in a browser. */
export async function openDashboard(options: EmulatorOptions = {}) {
  const running = await startEmulator({
    clock: RUNNING_CLOCK,
    assumptions: { allowLoopbackHttp: true, signatureClock: "machine", retrySeconds: "600,600" },
    ...options,
  });
  const { context, troubles } = await openContext();
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const { url } = running.emulator;
  await page.goto(`${url}/`);
  return {
    ...running,
    page,
    troubles,
    /** Shows a view, from its beginning. */
    async show(view: string): Promise<void> {
      await page.goto("about:blank");
      await page.goto(`${url}/_emulator/ui/#/${view}`);
    },
  };
}

/** The same with one account, and unless another clock is given, with one that stands still. */
export async function openWithAccount({
  tier = "pro",
  name = "Ada",
  clock = createManualClock(BEGINNING),
}: { tier?: Tier; name?: string; clock?: Clock } = {}) {
  const own = await openDashboard({ clock });
  const { emulator, ask } = own;
  await emulator.control.createAccount({ tier, name });
  const { key } = await emulator.control.createKey({ account_id: 1 });
  const { body } = await ask("/research/rankings?sort=traffic&limit=25", { key });
  return {
    ...own,
    key,
    /** Products, the most visited first. */
    slugs: (body["items"] as { slug: string }[]).map(({ slug }) => slug),
    /** Registers an endpoint that answers 200. @returns the registration's id */
    async register(types: readonly string[]): Promise<string> {
      const { url } = await serveEndpoint();
      const told = await ask("/alerts/webhooks", { key, body: { url, signal_types: types } });
      await emulator.control.settle();
      return String(told.body["id"]);
    },
  };
}

export const clickButton = (page: Page, name: string): Promise<void> =>
  page.getByRole("button", { name, exact: true }).click();
export const secretIn = (page: Page, label: string): Promise<string> =>
  page.getByRole("region", { name: label, exact: true }).innerText();
export const waitForBadge = (page: Page, text: string): Promise<void> =>
  page
    .locator(".badge", { hasText: new RegExp(`^${text}$`) })
    .first()
    .waitFor();
export const rowOf = (page: Page, text: string): Locator =>
  page.getByRole("row").filter({ hasText: text });
export const panel = (page: Page, heading: string): Locator =>
  page.locator("section", { has: page.getByRole("heading", { name: heading, exact: true }) });
/** The browser logs an answer that is not 2xx by itself. */
export const unexpected = (troubles: readonly string[]): string[] =>
  troubles.filter((text) => !/status of (400|404|503)/.test(text));
