import { expect, test } from "vitest";
import { PermanentFailure } from "../../../src/kit/index.js";
import { signalEvent, signedDelivery } from "../../../src/kit/testing/index.js";
import { nextEvent, sqliteOnDisk } from "../../http/serve.js";
import { HOSTILE, SHOWN } from "../hostile-texts.js";
import { openInbox } from "../open-inbox.js";

const count = (length: number): string[] =>
  Array.from({ length }, (_, index) => `sig_${index + 1}`);

test("a dead event is found, read, replayed, and seen done without a reload", async () => {
  const { page, see, click, ...inbox } = await openInbox({ store: sqliteOnDisk() });
  await see("No event yet");
  await see("npx signalbox send price_increased --url");
  await inbox.look("inbox the empty inbox");
  await inbox.receiveDead(count(3));
  await inbox.seeCount("given up", 3);
  await page.evaluate("globalThis.isSamePage = true");

  await inbox.search("state:dead type:price_increased sig_2");
  await see("1 event shown");
  await inbox.eventLink("sig_2").click();
  await expect.poll(() => page.title()).toMatch(/^\(3\) .+ · Inbox$/);
  await see(/^Given up after 1 try/);
  expect(await inbox.textOf("Last error")).toMatch(/no such tenant\n +at .*onSignal/);
  await see('"price_increased"');
  await inbox.look("inbox a dead event");

  inbox.mend();
  await click("Replay…");
  await inbox.look("inbox the confirmation");
  await inbox.confirm("Replay");
  await see("1 event will be handed off again.");
  await see("Done after a replay, 1st try.");
  await page.getByText("replayed", { exact: true }).waitFor();
  await see("replayed by a person, after 1 hand-off");
  await page.goBack();
  await see("No event matches.");
  expect(await page.evaluate("globalThis.isSamePage")).toBe(true);
});

test("the list has titles and narrows to a type, and a search for a part of a word says what was meant", async () => {
  // A search that cannot be read is answered with 400.
  const { page, see, click, ...inbox } = await openInbox({
    mayLog: /400/,
    onSignal: () => undefined,
  });
  const receive = (type: "price_increased" | "new_feature", id: string, slug: string) =>
    inbox.receive(signalEvent(type, { id, data: { title: `A ${type}`, product: { slug } } }));
  await receive("price_increased", "sig_1", "cobalt");
  await page.getByRole("row", { name: "price_increased A price_increased cobalt" }).waitFor();
  await receive("new_feature", "sig_2", "larkvoice");
  await click("1 new event");
  const search = page.getByLabel("Search events");
  await inbox.choose("Type", { label: "new_feature (1 shown)" });
  await see("1 event shown");
  expect(await search.inputValue()).toBe("type:new_feature");
  await inbox.choose("Type", { label: "Type: all" });
  await see("2 events shown");
  await inbox.search("state:done subject:lark");
  await inbox.follow("subject:larkvoice");
  await inbox.eventLink("sig_2").waitFor();
  expect(await search.inputValue()).toBe("state:done subject:larkvoice");
  // A value that is right is not suggested again.
  await inbox.search("state:dead subject:larkvoice");
  await see("No event matches.");
  expect(await page.getByText("Did you mean").count()).toBe(0);
  await inbox.search("nothing:known");
  await see("The search has a term that is not known.");
  await inbox.look("inbox a refused search");
});

test("why it is behind is told in a sentence, and the events of one error are handed off now", async () => {
  let isDown = true;
  const { page, see, click, ...inbox } = await openInbox({
    onSignal: ({ id, data }) => {
      if (isDown) throw new Error(`connect 10.0.0.${id.length} for ${data.product.slug}`);
    },
  });
  const failed = nextEvent(inbox.receiver, "handoffFailed");
  for (const [index, id] of count(12).entries()) {
    const data = { product: { slug: `product-${index % 7}` } };
    await inbox.receive(signalEvent("price_increased", { id, data }));
  }
  await failed;
  await see("The inbox is paused");
  await see(/Error: connect .* · since \d\d:\d\d:\d\d · 1\d waiting · next try/);
  const failures = page.getByRole("list", { name: "Failures" });
  await failures.getByText("Error: connect … for …").waitFor();
  await failures.getByRole("img", { name: /^First failures: \d+, / }).waitFor();
  await failures.getByText(/1\d waiting/).waitFor();

  await click(/Hand off 1\d/);
  await inbox.confirm("Hand off");
  await see(/\d events? will be handed off again/);
  isDown = false;
  await click("Try one event now");
  await inbox.seeCount("done", 12);
  await see(/\d+ done, \d+ failed again\./);
  await page.getByText("is paused").waitFor({ state: "detached" });
});

test("an event that is not there: what was refused is told, and nothing of it runs", async () => {
  const id = HOSTILE.find((text) => text.startsWith("<")) ?? "";
  // An id that is not known is answered with 404.
  const { page, see, show, url, receiver } = await openInbox({ mayLog: /404/ });
  const event = signalEvent("price_increased", { id });
  const forged = signedDelivery(event, { secret: "of somebody else" });
  await receiver.handle({ method: "POST", ...forged, remoteAddress: () => id });
  await expect
    .poll(async () => (await fetch(`${url}api/overview`)).text())
    .toContain("signature_mismatch");
  await show(`events/${encodeURIComponent(id)}`);
  await see("Deliveries with this id were refused");
  const refused = page.getByRole("list", { name: "Refused deliveries" });
  await refused.getByText("The signature does not match the body.").waitFor();
  await show("?q=sig_nope");
  await see("No event matches.");
  // They are of another event.
  expect(await refused.count()).toBe(0);
});

test("one of 251 selected is discarded after a confirmation, and 250 are replayed", async () => {
  const { page, see, follow, click, receiver, ...inbox } = await openInbox();
  await inbox.receiveDead(count(251));
  inbox.mend();
  await inbox.show("?q=state:dead");
  const first = page.getByRole("checkbox", { name: "Select sig_251", exact: true });
  await first.check();
  await follow("Next page");
  await inbox.eventLink("sig_201").waitFor();
  await follow("Newest");
  expect(await first.isChecked()).toBe(true);

  await click("Discard…");
  await see("The payload of each is deleted, which cannot be undone.");
  await inbox.press("Escape");
  expect((await receiver.inbox.stats()).dead).toBe(251);
  await click("Discard…");
  await inbox.confirm("Discard");
  await see("1 event discarded.");
  expect(await receiver.inbox.get("sig_251")).toMatchObject({ state: "done", rawBody: null });

  await follow("Show 1,000");
  await see("250 events shown");
  await page.getByRole("checkbox", { name: "Select all shown" }).check();
  await see("250 selected");
  await click("Replay…");
  await see("250 given up: 250 default.");
  await page.getByRole("dialog", { name: "Replay 250 events?" }).waitFor();
  const asked: string[] = [];
  page.on("request", (request) => void asked.push(new URL(request.url()).pathname));
  await inbox.confirm("Replay");
  await see("250 events will be handed off again.");
  await inbox.seeCount("done", 251);
  await see("250 done, 0 failed again.");
  // No payload is read to know what came of them.
  const times = (path: string) => asked.filter((each) => each.endsWith(path)).length;
  expect(times("/api/ends")).toBeGreaterThanOrEqual(5);
  expect([times("/api/ends") < 20, times("/api/event")]).toEqual([true, 0]);
});

test("hostile texts run nothing, and are shown", async () => {
  const { page, see, follow, receiver, ...inbox } = await openInbox({
    mayLog: /404/,
    onSignal: ({ data }) => {
      throw new PermanentFailure(data.title);
    },
  });
  for (const [index, text] of HOSTILE.entries()) {
    const isDead = nextEvent(receiver, "dead");
    const data = { title: text, product: { slug: text }, signal_type: text };
    // An event whose id has controls is quarantined.
    const id = `sig_${index}_${text.replaceAll(/\p{Cc}/gu, "")}`.slice(0, 255);
    await inbox.receive(signalEvent({ id, data }));
    await isDead;
  }
  await inbox.receive("not json");
  await page.reload();
  await see(`${HOSTILE.length + 1} events shown`);
  await page.getByRole("checkbox", { name: "Select all shown" }).check();
  await inbox.look("inbox the list");
  const list = await page.getByRole("table").innerText();
  for (const [index, text] of SHOWN.entries()) {
    expect(list).toContain(text);
    await page.locator(`tbody a[title^="sig_${index}_"]`).click();
    await page.locator(".failed").waitFor();
    expect(await page.getByRole("heading", { level: 1 }).last().innerText()).toContain(text);
    expect(await inbox.textOf("Last error")).toContain(text);
    await inbox.expectHarmless();
    await follow("← All events");
  }
  for (const id of ["<img src=x onerror=alert(1)>", "\u202E", "%", "//evil.example"]) {
    await inbox.show(`events/${encodeURIComponent(id)}`);
    await see("The inbox has no event with this id.");
  }
  await inbox.expectHarmless();
});

test("everything can be done by keyboard alone, and the focus is where the reader expects it", async () => {
  const { page, see, press, tabTo, ...inbox } = await openInbox();
  const focused = page.locator(":focus");
  const dialog = page.getByRole("dialog");
  const waitForFocus = (tag: string) =>
    expect.poll(() => page.evaluate("document.activeElement.tagName")).toBe(tag);
  const waitForName = (text: string) =>
    focused.and(page.getByText(text, { exact: true })).waitFor();
  await inbox.receiveDead(count(60));
  inbox.mend();
  // The keys are those of the list.
  await inbox.seeCount("given up", 60);
  await press("Tab");
  expect(await focused.innerText()).toBe("Skip to the content");
  await press("Enter");
  await waitForFocus("MAIN");

  await press("?");
  await see(/Keys: .* search/);
  await press("/");
  await page.keyboard.type("state:dead sig_3");
  await press("Enter");
  await see("11 events shown");
  const waitForId = (id: string) => focused.and(page.locator(`[title="${id}"]`)).waitFor();
  await tabTo("checkbox", "Select sig_39");
  for (const key of ["j", "j", "k"]) await press(key);
  await waitForId("sig_38");
  await press("x");
  await see("1 selected");
  await page.evaluate("scrollTo(0, 300)");
  for (let presses = 0; presses < 7; presses += 1) await press("j");
  await waitForId("sig_31");
  const scroll = await page.evaluate<number>("scrollY");
  await press("Enter");
  await waitForFocus("H1");
  await see(/^Given up after 1 try/);
  await tabTo("link", "← All events");
  await press("Enter");
  await see("11 events shown");
  await waitForId("sig_31");
  await press("Enter");
  await waitForFocus("H1");
  await see(/^Given up after 1 try/);

  await tabTo("button", "Replay…");
  await press("Enter");
  await dialog.waitFor();
  for (let presses = 0; presses < 4; presses += 1) {
    await press("Tab");
    const isInside =
      "document.activeElement === document.body || document.activeElement.closest('dialog') !== null";
    expect(await page.evaluate(isInside)).toBe(true);
  }
  await press("Escape");
  await waitForName("Replay…");
  await press("Enter");
  // A Tab before it is there would choose where the focus is afterwards.
  await dialog.waitFor();
  await tabTo("button", "Replay");
  await press("Enter");
  await see("Done after a replay, 1st try.");
  await waitForName("Replay…");

  await press("Shift+Tab");
  await press("Shift+Tab");
  await press("Enter");
  await see("10 events shown");
  await expect.poll(() => page.title()).toBe("(59) Events: state:dead sig_3 · Inbox");
  await see("1 selected");
  expect(await page.evaluate<number>("scrollY")).toBeGreaterThan(scroll - 100);
});

test("it works behind a proxy that strips a prefix, its downloads too", async () => {
  const { page, see, follow, eventLink, receiveDead } = await openInbox({
    prefix: "/behind/proxy",
  });
  const downloaded = async (link: string): Promise<string> => {
    const download = page.waitForEvent("download");
    await follow(link);
    return (await download).suggestedFilename();
  };
  await receiveDead(count(2));
  await page.reload();
  await eventLink("sig_1").click();
  await see(/^Given up after/);
  const link = page.url();
  expect(link).toContain("/#/events/sig_1");
  await page.goto("about:blank");
  await page.goto(link);
  await see(/^Given up after/);
  expect(await downloaded("Download")).toBe("sig_1.json");
  await follow("← All events");
  expect(await downloaded("Export")).toBe("default-events.ndjson");
});

test("a lost connection is said, and mended by itself", async () => {
  const { page, see, url, receiveDead } = await openInbox({ mayLog: /ERR_INTERNET_DISCONNECTED/ });
  await receiveDead(["sig_1"]);
  await see("1 event shown");
  await page.context().setOffline(true);
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
  await see(/connection lost, as of \d\d:\d\d:\d\d/);
  await receiveDead(["sig_2"]);
  await page.context().setOffline(false);
  await page.getByRole("button", { name: "1 new event" }).click();
  await see("2 events shown");
  await page.getByText("live", { exact: true }).waitFor();
  expect(page.url()).toBe(url);
});
