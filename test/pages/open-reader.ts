import chromium from "@sparticuz/chromium";
import { chromium as launcher, type Browser, type Locator, type Page } from "playwright-core";
import { expect, onTestFinished, vi } from "vitest";
import { expectGoodLooks, overflowOf } from "./page-checks.js";

let starting: Promise<Browser> | undefined;

/** Headless Chromium, one for all tests of the worker process. */
function startBrowser(): Promise<Browser> {
  starting ??= chromium.executablePath().then((executablePath) =>
    // Another worker may still be writing the browser's file: until then it cannot be run
    // (ETXTBSY).
    vi.waitFor(
      () =>
        // The package's own arguments are for a function in a cloud.
        launcher.launch({
          executablePath,
          headless: true,
          args: ["--no-sandbox", "--disable-gpu", "--disable-quic"],
        }),
      { timeout: 60_000, interval: 200 },
    ),
  );
  return starting;
}

/** What a reader does in a page, or in a part of it. */
export const actionsIn = (part: Page | Locator) => ({
  /** Waits until this is shown. */
  see: (text: string | RegExp) => part.getByText(text).first().waitFor(),
  seeLink: (name: string) => part.getByRole("link", { name, exact: true }).waitFor(),
  fill: (label: string, text: string) => part.getByLabel(label, { exact: true }).fill(text),
  choose: async (label: string, option: string | { label: string }) =>
    void (await part.getByRole("combobox", { name: label, exact: true }).selectOption(option)),
  click: (button: string | RegExp) =>
    part.getByRole("button", { name: button, exact: true }).click(),
  follow: (link: string | RegExp) =>
    part.getByRole("link", { name: link, exact: true }).first().click(),
  textOf: (region: string) => part.getByRole("region", { name: region, exact: true }).innerText(),
});

/**
 * A browser with a new profile. What the page logs as an error, violations of its CSP too, and
 * requests to other hosts fail the test, but what it `mayLog`: the browser logs each answer that is
 * not 2xx.
 */
export async function openReader({ mayLog = /^$/ }: { mayLog?: RegExp } = {}) {
  const context = await (await startBrowser()).newContext();
  const troubles: string[] = [];
  context.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) troubles.push(message.text());
  });
  context.on("weberror", (error) => troubles.push(String(error.error())));
  context.on("request", (request) => {
    const { hostname } = new URL(request.url());
    if (!["127.0.0.1", "localhost"].includes(hostname))
      troubles.push(`a request to ${request.url()}`);
  });
  onTestFinished(async () => {
    await context.close();
    expect(troubles.filter((text) => !mayLog.test(text))).toEqual([]);
  });
  // Less than that of a test, so that the test says what it waited for.
  context.setDefaultTimeout(20_000);
  const page = await context.newPage();
  return {
    page,
    ...actionsIn(page),
    press: (key: string) => page.keyboard.press(key),
    /** Presses a button of the dialog. */
    confirm: (button: string) =>
      page.getByRole("dialog").getByRole("button", { name: button }).click(),
    /** Presses Tab until an element with this role and name has the focus. */
    async tabTo(role: "button" | "link" | "checkbox" | "slider", name: string): Promise<void> {
      const target = page.locator(":focus").and(page.getByRole(role, { name, exact: true }));
      for (let presses = 0; presses < 120; presses++) {
        if ((await target.count()) > 0) return;
        await page.keyboard.press("Tab");
      }
      throw new Error(`Tab does not reach the ${role} ${name}`);
    },
    /** The view that is shown now is right, narrow and wide, in light and dark. */
    look: (view: string) => expectGoodLooks(page, view),
    /** No text of a sender has run as a script, or made the page wider. */
    async expectHarmless(): Promise<void> {
      expect(await page.evaluate("globalThis.attacked ?? 0")).toBe(0);
      expect(await overflowOf(page)).toBe(0);
    },
  };
}
