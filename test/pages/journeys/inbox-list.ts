import type { Route } from "playwright-core";
import { expect, test } from "vitest";
import { systemClock } from "../../../src/base/time/clock.js";
import { MINUTE_MS } from "../../../src/base/time/units.js";
import { signalEvent } from "../../../src/kit/testing/index.js";
import { openInbox } from "../open-inbox.js";
import { overflowOf } from "../page-checks.js";

test("while the answer to a search is slow, lost or late, no event of another search can be selected", async () => {
  const { page, see, press, search, ...inbox } = await openInbox({ mayLog: /ERR_FAILED/ });
  await inbox.receiveDead(["old_1", "old_2", "new_1"]);
  await search("old");
  await see("2 events shown");
  const all = page.getByRole("checkbox", { name: /Select all shown|selected/ });
  const first = page.locator("tbody input").first();
  const held: Route[] = [];
  const heldFor = async (terms: string): Promise<Route | undefined> => {
    const found = () => held.find((route) => route.request().url().includes(`q=${terms}&`));
    await expect.poll(found).toBeDefined();
    return found();
  };
  const expectNothingSelected = async (): Promise<void> => {
    await page.locator("[inert] table").waitFor();
    await all.click();
    await first.click({ force: true });
    for (const key of ["j", "x"]) await press(key);
    expect(await page.locator("tbody input:checked").count()).toBe(0);
    expect(await page.getByRole("button", { name: "Replay…" }).count()).toBe(0);
  };
  await all.check();
  await page.route("**/api/events?*", (route) => void held.push(route));
  await search("new");
  await see("Searching…");
  await expectNothingSelected();

  // The answer to the search before it comes last.
  await search("old_1");
  await (await heldFor("old_1"))?.continue();
  await see("1 event shown");
  await all.check();
  await (await heldFor("new"))?.continue().catch(() => {});
  await see("1 selected");
  expect(await page.locator("tbody tr").count()).toBe(1);

  await search("new_1");
  await (await heldFor("new_1"))?.abort();
  await see("The server does not answer.");
  await expectNothingSelected();
  await page.unroute("**/api/events?*");
  await inbox.receiveDead(["other"]);
  await inbox.eventLink("new_1").waitFor();
  expect(await first.isChecked()).toBe(false);
});

test("an event that leaves the list is not selected any more", async () => {
  const { page, see, receiver, mend, receiveDead, show } = await openInbox();
  await receiveDead(["sig_1", "sig_2"]);
  await show("?q=state:dead");
  await page.getByRole("checkbox", { name: "Select all shown" }).check();
  await see("2 selected");
  mend();
  await receiver.inbox.replay(["sig_1"]);
  await see("1 selected");
});

test("new events wait behind a button, and no row moves", async () => {
  const { page, see, click, receive, eventLink } = await openInbox({ onSignal: () => undefined });
  await receive(signalEvent("new_feature", { id: "sig_1" }));
  await eventLink("sig_1").waitFor();
  const place = await eventLink("sig_1").boundingBox();
  for (const id of ["sig_2", "sig_3"]) await receive(signalEvent("new_feature", { id }));
  await page.getByRole("button", { name: "2 new events" }).waitFor();
  expect(await eventLink("sig_1").boundingBox()).toEqual(place);
  expect(await eventLink("sig_2").count()).toBe(0);
  await click("2 new events");
  await see("3 events shown");
});

test("the chart reads what is under the pointer, and what is dragged becomes the search", async () => {
  const { page, see, receive, textOf } = await openInbox({ onSignal: () => undefined });
  await receive(signalEvent("new_feature"));
  await see("1 event shown");
  const seeReceived = (count: number) =>
    expect
      .poll(() => textOf("Activity in the last day"))
      .toMatch(new RegExp(`received\\s+${count}`));
  const { x, y, width } = (await page.locator(".bars").boundingBox()) ?? { x: 0, y: 0, width: 0 };
  await page.mouse.move(x + 5, y + 20);
  await seeReceived(0);
  await page.mouse.move(x + width - 60, y + 20);
  await page.mouse.down();
  await page.mouse.move(x + width - 2, y + 20);
  await seeReceived(1);
  await page.mouse.up();
  const terms = /^after:\d{4}-\d\d-\d\dT\d\d:\d\dZ before:\d{4}-\d\d-\d\dT\d\d:\d\dZ$/;
  await expect.poll(() => page.getByLabel("Search events").inputValue()).toMatch(terms);
});

test("by keyboard the chart says a span with its numbers, and what is selected becomes the search", async () => {
  // Five minutes after the start of a span, so that none begins meanwhile.
  const aheadMs = 5 * MINUTE_MS - (Date.now() % (15 * MINUTE_MS));
  const clock = { ...systemClock, now: () => systemClock.now() + aheadMs };
  const options = { onSignal: () => {}, clock, toleranceSeconds: 3600 };
  const { page, see, press, tabTo, textOf, ...inbox } = await openInbox(options);
  await inbox.receive(signalEvent("new_feature"));
  await see("1 event shown");
  const chart = page.getByRole("slider", { name: "Received in each span of time" });
  await tabTo("slider", "Received in each span of time");
  const says = async (start: number, text: RegExp): Promise<void> => {
    await expect.poll(() => chart.getAttribute("aria-valuetext")).toMatch(text);
    expect(await chart.getAttribute("aria-valuenow")).toBe(String(start));
  };
  await says(95, /^\S.* to now: received 1, /);
  await press("ArrowLeft");
  await says(95, /^[\d:]+ to now: received 1, handed off 1, failed tries 0/);
  await press("ArrowLeft");
  await says(94, /^[\d:]+ to [\d:]+: received 0, handed off 0, failed tries 0$/);
  expect(await textOf("Activity in the last day")).toMatch(/received\s+0/);
  await press("Shift+ArrowRight");
  await says(95, /to now: received 1, /);
  await inbox.look("inbox a selection in the chart");
  await press("Enter");
  const terms = /^after:(\S+Z) before:(\S+Z)$/;
  const search = page.getByLabel("Search events");
  await expect.poll(() => search.inputValue()).toMatch(terms);
  const [, after = "", before = ""] = terms.exec(await search.inputValue()) ?? [];
  expect(Date.parse(before) - Date.parse(after)).toBe(30 * 60_000);
  await press("Escape");
  await says(95, /to now: received 1, handed off 1$|to now: received 1, handed off 1, p50/);
});

test.each([360, 768, 1280])(
  "at %i px the ranges of the chart are on one line, below its focus",
  async (width) => {
    const { page, see, tabTo, press, click, receive } = await openInbox({ onSignal: () => {} });
    await receive(signalEvent("new_feature"));
    await see("1 event shown");
    await page.setViewportSize({ width, height: 900 });
    await click("Week");
    await tabTo("slider", "Received in each span of time");
    // Both of its ends are of another day.
    for (let presses = 0; presses < 30; presses += 1) await press("ArrowLeft");
    const end = page.locator(".axis").getByText(/\d\d:\d\d.*\d\d:\d\d/);
    await end.waitFor();
    const places = await page.evaluate<[number, number[]]>(`(() => {
    const chart = document.activeElement;
    const { outlineOffset, outlineWidth } = getComputedStyle(chart);
    const ring = Math.max(0, parseFloat(outlineOffset) + parseFloat(outlineWidth));
    const buttons = [...document.querySelectorAll(".axis button")];
    const tops = buttons.map((each) => each.getBoundingClientRect().top);
    return [chart.getBoundingClientRect().bottom + ring, tops];
  })()`);
    const [ring, tops] = places;
    expect([new Set(tops).size, tops[0]! >= ring]).toEqual([1, true]);
    expect(await overflowOf(page)).toBe(0);
  },
);

test("two links lead past what is above the events", async () => {
  const { page, press, receiveDead, eventLink } = await openInbox();
  await receiveDead(["sig_1"]);
  await eventLink("sig_1").waitFor();
  for (const key of ["Tab", "Enter", "Tab"]) await press(key);
  expect(await page.locator(":focus").innerText()).toBe("Skip to the events");
  await press("Enter");
  expect(await page.locator(":focus").getAttribute("title")).toBe("sig_1");
});

test("j and k go on when an event is open, Escape leads back, and times are of the chosen clock", async () => {
  const { page, press, eventLink, receiveDead, show, click } = await openInbox();
  for (const id of ["sig_1", "sig_2"]) await receiveDead([id]);
  await show("events/sig_2?q=state:dead");
  for (const [id, key] of [
    // A letter of "Escape".
    ["sig_2", "s"],
    ["sig_2", "j"],
    ["sig_1", "k"],
    ["sig_2", "Escape"],
  ] as const) {
    await eventLink(id).and(page.locator("[aria-current]")).waitFor({ state: "attached" });
    await press(key);
  }
  const time = page.locator("tbody time").first();
  await time.waitFor();
  expect(page.url()).toMatch(/#\/\?q=state%3Adead$/);
  await click("local time");
  await page.reload();
  expect(await time.getAttribute("title")).toContain(`${await time.innerText()} UTC`);
  await show("whatever/else");
  await page.getByRole("heading", { name: "There is no such view" }).waitFor();
});
