import chromium from "@sparticuz/chromium";
import { chromium as launcher, type Browser, type BrowserContext } from "playwright-core";
import { vi } from "vitest";

let starting: Promise<Browser> | undefined;

/** Headless Chromium, one for all tests of the worker process. */
export function startBrowser(): Promise<Browser> {
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

/**
 * A new profile. What the page logs as an error, violations of its CSP too, and requests to other
 * hosts are collected.
 */
export async function openContext(): Promise<{ context: BrowserContext; troubles: string[] }> {
  const browser = await startBrowser();
  const context = await browser.newContext();
  const troubles: string[] = [];
  context.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") troubles.push(message.text());
  });
  context.on("weberror", (error) => troubles.push(String(error.error())));
  context.on("request", (request) => {
    const { hostname } = new URL(request.url());
    if (!["127.0.0.1", "localhost"].includes(hostname))
      troubles.push(`a request to ${request.url()}`);
  });
  return { context, troubles };
}
