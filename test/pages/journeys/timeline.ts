import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { startEmulator } from "../../emulator/start-emulator.js";
import { traceAnEvent } from "../../emulator/traced-event.js";
import { openReader } from "../open-reader.js";

/** The steps as they are read out: lane and words, without what differs from run to run. */
const stepsOf = (page: Page): Promise<string[]> =>
  page
    .locator(".timeline li .what > p:first-child")
    .evaluateAll((paragraphs) =>
      paragraphs.map(({ textContent }) => String(textContent).replace(/ in \d+ ms/, "")),
    );

test("the dashboard shows every attempt of both sides in order, and follows what happens", async () => {
  const { emulator, eventId, publish } = await traceAnEvent({ error: "no\u202e <b>queue</b>" });
  const { page, see, press, look } = await openReader();
  await page.goto(`${emulator.url}/_emulator/ui/#/events/${eventId}`);
  await page.locator(".timeline li").nth(5).waitFor();
  expect(await stepsOf(page)).toEqual([
    "Sender attempt 1: 503 busy",
    "Sender attempt 2: 503 busy",
    "Sender attempt 3: 200",
    "Inbox received and stored",
    "Inbox hand-off 1 failed",
    "Inbox hand-off 2 succeeded: done",
  ]);
  expect(await page.locator("main").innerText()).toContain("The database is locked.");
  await page.locator("summary").focus();
  await press("Enter");
  expect(await page.locator("details pre").innerText()).toContain(
    "Error: no\\u202e <b>queue</b>\n",
  );

  const { items } = await emulator.control.listDeliveries({ event_id: eventId });
  await emulator.control.redeliver({ delivery_id: items[0]?.delivery_id ?? 0 });
  await see("known already: not stored again");
  expect((await stepsOf(page)).slice(-2)).toEqual([
    "Sender attempt 1: 200 duplicate",
    "Inbox known already: not stored again",
  ]);
  await look("an event");
  const other = await publish();
  await page.goto(`${emulator.url}/_emulator/ui/#/events/${other}`);
  await see("hand-off 1 succeeded: done");
  expect(await page.locator(".timeline li").count()).toBe(3);
});

test("a side that is missing is said: no inbox is connected, or the inbox does not know the event", async () => {
  const alone = await startEmulator();
  const { emulator } = await traceAnEvent();
  // An event that is not known is answered with 404.
  const { page, see } = await openReader({ mayLog: /404/ });
  await page.goto(`${alone.emulator.url}/_emulator/ui/#/events/sig_1`);
  await alone.account("pro");
  await see("No inbox is connected");
  await see("This sender does not know the event");
  await page.goto(`${emulator.url}/_emulator/ui/#/events/sig_1`);
  await see("The inbox does not know the event");
});
