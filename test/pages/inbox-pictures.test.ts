import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { PermanentFailure, RetryLater } from "../../src/index.js";
import { signalEvent } from "../../src/testing/index.js";
import { SIGNAL_TYPES } from "../../src/events/signal-types.js";
import { HOSTILE } from "./hostile-texts.js";
import { openInbox, type OpenInbox } from "./open-inbox.js";

/** Where pictures of every view are written. Without it nothing is done. */
const FOLDER = process.env["PICTURES"];
const WIDTHS = [360, 1280, 1920];
const HOUR_MS = 60 * 60 * 1000;

test.skipIf(FOLDER === undefined)("pictures of every view of the inbox page", { timeout: 300_000 }, async () => {
  const inbox = await openInbox({
    handoff: { backoff: () => 14 * 60_000, concurrency: 20 },
    onSignal: (event) => {
      const { title } = event.data;
      if (title.includes("RETRY")) throw new RetryLater("the queue is paused", { delayMs: 4 * HOUR_MS });
      if (title.includes("DEAD"))
        throw new PermanentFailure("no such tenant: acme-notes", { cause: new Error("SELECT returned no row") });
      if (title.includes("FAIL")) throw new Error("connect ECONNREFUSED 10.0.4.17:5672");
      if (title.includes("HOSTILE")) throw new Error(HOSTILE.join(" "));
    },
  });
  await shoot(inbox.page, inbox.url, "empty");
  await fill(inbox);
  await inbox.receive(signalEvent("price_increased", { data: { title: "FAIL" } }));
  await inbox.receive(signalEvent("new_model", { data: { title: "RETRY" } }));

  const { events } = (await (await fetch(`${inbox.url}api/events?limit=200`)).json()) as {
    events: { eventId: string; state: string; lastError: string | null }[];
  };
  const id = (state: string, error = ""): string =>
    encodeURIComponent(
      events.find((event) => event.state === state && (event.lastError ?? "").includes(error))?.eventId ?? "",
    );
  await shoot(inbox.page, `${inbox.url}#/`, "list");
  await shoot(inbox.page, `${inbox.url}#/?q=state:dead`, "search", async (page) => {
    await page.getByRole("checkbox", { name: /all shown/ }).check();
  });
  await shoot(inbox.page, `${inbox.url}#/?q=state:dead`, "confirm", async (page) => {
    await page.getByRole("checkbox", { name: /all shown|selected/ }).check();
    await page.getByRole("button", { name: "Discard…" }).click();
  });
  await shoot(inbox.page, `${inbox.url}#/?q=stat:dead`, "refused");
  await shoot(inbox.page, `${inbox.url}#/?q=product:nobody`, "nothing");
  await shoot(inbox.page, `${inbox.url}#/events/${id("dead")}`, "dead");
  await shoot(inbox.page, `${inbox.url}#/events/${id("ready")}`, "ready");
  await shoot(inbox.page, `${inbox.url}#/events/${id("done")}`, "done");
  await shoot(inbox.page, `${inbox.url}#/events/${id("quarantined")}`, "quarantined");
  await shoot(inbox.page, `${inbox.url}#/events/${id("ready", "script")}`, "hostile");
  await shoot(inbox.page, `${inbox.url}#/events/nothing`, "missing");
  await inbox.page.goto(`${inbox.url}#/`);
  await inbox.receiver.close();
  await shoot(inbox.page, `${inbox.url}#/`, "lost", (page) => page.getByText("connection lost").waitFor());
  expect(inbox.page.url()).toContain(inbox.url);
});

async function fill({ receive }: OpenInbox): Promise<void> {
  for (let index = 0; index < 160; index += 1) {
    const type = SIGNAL_TYPES[(index * 7) % SIGNAL_TYPES.length] ?? "new_model";
    const title = index % 11 === 3 ? "DEAD" : index % 23 === 5 ? "FAIL" : "fine";
    await receive(signalEvent(type, { data: { title, product: { slug: PRODUCTS[index % PRODUCTS.length] ?? "" } } }));
  }
  await receive(
    signalEvent("price_increased", { id: `sig_${HOSTILE[1]}`, data: { title: `HOSTILE ${HOSTILE.join(" ")}` } }),
  );
  await receive("not json at all");
  await receive(new Uint8Array([0xff, 0xfe, 0, 1, 2, 3]));
}

const PRODUCTS = ["acme-notes", "larkvoice", "tern", "a-product-with-quite-a-long-name-that-wraps"];

async function shoot(page: Page, url: string, name: string, prepare?: (page: Page) => Promise<unknown>): Promise<void> {
  mkdirSync(FOLDER as string, { recursive: true });
  if (name !== "lost") {
    await page.goto("about:blank");
    await page.goto(url);
    await page.getByText("live", { exact: true }).waitFor();
    await page.getByText("Loading…").waitFor({ state: "hidden" });
  }
  await prepare?.(page);
  for (const scheme of ["light", "dark"] as const) {
    for (const width of WIDTHS) {
      await page.emulateMedia({ colorScheme: scheme });
      await page.setViewportSize({ width, height: width === 360 ? 740 : 900 });
      const path = join(FOLDER as string, `${name}-${width}-${scheme}.png`);
      await page.screenshot({ path, fullPage: !["confirm", "list"].includes(name) });
    }
  }
}
