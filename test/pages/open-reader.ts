import chromium from "@sparticuz/chromium";
import { chromium as launcher, type Browser, type Locator, type Page } from "playwright-core";
import { expect, onTestFinished, vi } from "vitest";

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

type Role = "button" | "link" | "textbox" | "checkbox" | "combobox";

/** A browser with a new profile, and what a reader does in it. */
export interface Reader {
  page: Page;
  /** Waits until this is shown. */
  see(text: string | RegExp): Promise<void>;
  press(key: string): Promise<void>;
  fill(label: string, text: string): Promise<void>;
  click(button: string | RegExp): Promise<void>;
  follow(link: string | RegExp): Promise<void>;
  /** Presses a button of the dialog. */
  confirm(button: string): Promise<void>;
  /** The text of a region or a list with this name. */
  textOf(region: string): Promise<string>;
  /** Presses Tab until an element with this role and name has the focus. */
  tabTo(role: Role, name: string): Promise<void>;
}

/**
 * What the page logs as an error, violations of its CSP too, and requests to other hosts fail the
 * test, but what it `mayLog`: the browser logs each answer that is not 2xx.
 */
export async function openReader({ mayLog = /^$/ }: { mayLog?: RegExp } = {}): Promise<Reader> {
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
    see: (text) => page.getByText(text).first().waitFor(),
    press: (key) => page.keyboard.press(key),
    fill: (label, text) => page.getByLabel(label, { exact: true }).fill(text),
    click: (name) => page.getByRole("button", { name, exact: true }).click(),
    follow: (name) => page.getByRole("link", { name, exact: true }).first().click(),
    confirm: (name) => page.getByRole("dialog").getByRole("button", { name }).click(),
    textOf: (name) => page.getByRole("region", { name, exact: true }).innerText(),
    async tabTo(role, name) {
      const target = page.getByRole(role, { name, exact: true });
      for (let presses = 0; presses < 120; presses++) {
        if (await hasFocus(target)) return;
        await page.keyboard.press("Tab");
      }
      throw new Error(`Tab does not reach the ${role} ${name}`);
    },
  };
}

interface Focusable {
  ownerDocument: { activeElement: unknown };
}

export const hasFocus = (target: Locator): Promise<boolean> =>
  target.evaluate((element: Focusable) => element === element.ownerDocument.activeElement);
