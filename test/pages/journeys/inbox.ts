import { expect, test } from "vitest";
import { PermanentFailure } from "../../../src/kit/index.js";
import { signalEvent, signedDelivery } from "../../../src/kit/testing/index.js";
import { nextEvent, sqliteOnDisk } from "../../http/serve.js";
import { HOSTILE } from "../hostile-texts.js";
import { openInbox, type OpenInbox, type OpenInboxOptions } from "../open-inbox.js";
import { faultsOf, overflowOf, tabTo } from "../page-checks.js";

/** An inbox whose callback refuses everything until it is mended. */
async function openBroken(
  options: OpenInboxOptions = {},
): Promise<OpenInbox & { mend: () => void }> {
  let isBroken = true;
  const inbox = await openInbox({
    handoff: { concurrency: 50 },
    onSignal: () => {
      if (isBroken) throw new PermanentFailure("no such tenant");
    },
    ...options,
  });
  return { ...inbox, mend: () => void (isBroken = false) };
}

async function receiveDead(
  { receiver, receive }: OpenInbox,
  ids: readonly string[],
): Promise<void> {
  const areDead = new Promise<void>((resolve) => {
    let left = ids.length;
    receiver.on("dead", () => void ((left -= 1) === 0 && resolve()));
  });
  await Promise.all(ids.map((id) => receive(signalEvent("price_increased", { id }))));
  await areDead;
}

const count = (length: number): string[] =>
  Array.from({ length }, (_, index) => `sig_${index + 1}`);

test("a dead event is found, read, replayed, and seen done without a reload", async () => {
  const inbox = await openBroken({ store: sqliteOnDisk() });
  const { page, receiver, mend, troubles } = inbox;
  await page.getByText("No event yet").waitFor();
  await page.getByText("npx signalbox send price_increased --url").waitFor();
  await receiveDead(inbox, count(3));
  await page.getByRole("link", { name: "3 dead" }).waitFor();
  await page.evaluate("globalThis.isSamePage = true");

  await page.getByLabel("Search events").fill("state:dead type:price_increased sig_2");
  await page.keyboard.press("Enter");
  await page.getByText("1 event shown").waitFor();
  await page.getByRole("link", { name: "sig_2" }).click();
  await expect.poll(() => page.title()).toMatch(/^\(3\) .+ · Inbox$/);
  await page.getByText("It was given up after 1 attempt.").waitFor();
  await page.locator(".timeline summary").click();
  expect(
    await page.getByRole("region", { name: "hand-off 1 failed: all of it" }).innerText(),
  ).toMatch(/no such tenant\n +at .*onSignal/);
  expect(await page.getByRole("region", { name: "As text" }).innerText()).toContain(
    '"signal_type": "price_increased"',
  );

  mend();
  const isDone = nextEvent(receiver, "handedOff");
  await page.getByRole("button", { name: "Replay…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Replay" }).click();
  await page.getByText("1 event will be handed off again.").waitFor();
  await isDone;
  await page.getByText("Nothing more happens.").waitFor();
  await page.getByText("replayed", { exact: true }).waitFor();
  await page.getByText("replayed by a person, after 1 hand-off").waitFor();
  await page.goBack();
  await page.getByText("No event matches.").waitFor();
  expect(await page.evaluate("globalThis.isSamePage")).toBe(true);
  expect(troubles).toEqual([]);
});

test("the list has titles and narrows to a type, and a search for a part of a word says what was meant", async () => {
  const { page, receive, troubles } = await openInbox();
  await receive(
    signalEvent("price_increased", {
      id: "sig_1",
      data: { title: "A price", product: { slug: "cobalt" } },
    }),
  );
  await receive(
    signalEvent("new_feature", {
      id: "sig_2",
      data: { title: "A feature", product: { slug: "larkvoice" } },
    }),
  );
  await page.getByRole("row", { name: "A price · price_increased · cobalt" }).waitFor();
  await page.getByLabel("Type", { exact: true }).selectOption({ label: "new_feature (1 shown)" });
  await page.getByText("1 event shown").waitFor();
  expect(await page.getByLabel("Search events").inputValue()).toBe("type:new_feature");
  await page.getByLabel("Type", { exact: true }).selectOption({ label: "Type: all" });
  await page.getByText("2 events shown").waitFor();
  await page.getByLabel("Search events").fill("state:done lark");
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "subject:larkvoice" }).click();
  await page.getByRole("link", { name: "sig_2" }).waitFor();
  expect(await page.getByLabel("Search events").inputValue()).toBe("state:done subject:larkvoice");
  // A value that is right is not suggested again.
  await page.getByLabel("Search events").fill("state:dead subject:larkvoice");
  await page.keyboard.press("Enter");
  await page.getByText("No event matches.").waitFor();
  expect(await page.getByText("Did you mean").count()).toBe(0);
  expect(troubles).toEqual([]);
});

test("why it is behind is told in a sentence, and the events of one error are handed off now", async () => {
  let isDown = true;
  const inbox = await openInbox({
    onSignal: ({ id, data }) => {
      if (isDown) throw new Error(`connect 10.0.0.${id.length} for ${data.product.slug}`);
    },
  });
  const { page, receiver, receive, troubles } = inbox;
  const failed = nextEvent(receiver, "handoffFailed");
  for (const [index, id] of count(12).entries()) {
    await receive(
      signalEvent("price_increased", { id, data: { product: { slug: `product-${index % 7}` } } }),
    );
  }
  await failed;
  await page
    .getByText(/Hand-offs are paused since \d\d:\d\d by `Error: connect .*one event is tried/)
    .waitFor();
  await page.getByText("1 error").click();
  const failures = page.getByRole("list", { name: "Failures" });
  await failures.getByText("Error: connect … for …").waitFor();
  await failures.getByText(/1\d waiting/).waitFor();

  await failures.getByRole("button", { name: /Hand off 1\d/ }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Hand off" }).click();
  await page.getByText(/\d events? will be handed off again/).waitFor();
  isDown = false;
  await page.getByRole("button", { name: "Try one event now" }).click();
  await page.getByRole("link", { name: "12 done" }).waitFor();
  await page.getByText("Up to date.").waitFor();
  expect(troubles).toEqual([]);
});

test("an event that is not there: what was refused is told, and nothing of it runs", async () => {
  const id = HOSTILE.find((text) => text.startsWith("<")) ?? "";
  const { page, url, receiver, troubles } = await openInbox();
  const forged = signedDelivery(signalEvent("price_increased", { id }), {
    secret: "of somebody else",
  });
  await receiver.handle({ method: "POST", ...forged, remoteAddress: () => id });
  await expect
    .poll(async () => (await fetch(`${url}api/overview`)).text())
    .toContain("signature_mismatch");
  await page.goto(`${url}#/events/${encodeURIComponent(id)}`);
  await page.getByText("Deliveries with this id were refused").waitFor();
  const refused = page.getByRole("list", { name: "Refused deliveries" });
  await refused.getByText("signature_mismatch", { exact: true }).waitFor();
  await page.goto(`${url}#/events/sig_nope`);
  await page.getByText("Refused in the last 24 hours").last().waitFor();
  await page.goto(`${url}#/?q=sig_nope`);
  await page.getByText("No event matches.").waitFor();
  await refused.getByText("signature_mismatch", { exact: true }).waitFor();
  // An id that is not known is answered with 404, which the browser writes into its console.
  expect(troubles.filter((trouble) => !trouble.includes("404"))).toEqual([]);
});

test("a search that failed shows no events of the search before it", async () => {
  const { page, receive } = await openInbox();
  await receive(signalEvent("price_increased"));
  await page.getByText("1 event shown").waitFor();
  await page.route("**/api/events?*", (route) =>
    route.fulfill({ status: 200, body: "<h1>Log in</h1>" }),
  );
  await page.getByLabel("Search events").fill("state:dead");
  await page.keyboard.press("Enter");
  await page.getByText("If you have to log in again, reload the page.").waitFor();
  expect(await page.getByRole("checkbox").count()).toBe(0);
});

test("one of 251 selected is discarded after a confirmation, and 250 are replayed", async () => {
  const inbox = await openBroken();
  const { page, receiver, mend, troubles } = inbox;
  await receiveDead(inbox, count(251));
  mend();
  await page.goto(`${inbox.url}#/?q=state:dead`);
  const first = page.getByRole("checkbox", { name: "Select sig_251", exact: true });
  await first.check();
  await page.getByRole("link", { name: "Next page" }).click();
  await page.getByRole("link", { name: "sig_201", exact: true }).waitFor();
  await page.getByRole("link", { name: "Newest" }).click();
  expect(await first.isChecked()).toBe(true);

  await page.getByRole("button", { name: "Discard…" }).click();
  await page.getByText("The payload of each is deleted, which cannot be undone.").waitFor();
  await page.keyboard.press("Escape");
  expect((await receiver.inbox.stats()).dead).toBe(251);
  await page.getByRole("button", { name: "Discard…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Discard" }).click();
  await page.getByText("1 event discarded.").waitFor();
  expect(await receiver.inbox.get("sig_251")).toMatchObject({ state: "done", rawBody: null });

  await page.getByRole("button", { name: "Select all that match" }).click();
  await page.getByText("250 selected").waitFor();
  await page.getByRole("button", { name: "Replay…" }).click();
  await page
    .getByRole("dialog", { name: "Replay 250 events?" })
    .getByRole("button", { name: "Replay" })
    .click();
  await page.getByText("250 events will be handed off again.").waitFor();
  await page.getByRole("link", { name: "251 done" }).waitFor();
  expect((await receiver.inbox.stats()).done).toBe(251);
  expect(troubles).toEqual([]);
});

test("hostile texts run nothing, and are shown", async () => {
  const inbox = await openInbox({
    onSignal: ({ data }) => {
      throw new PermanentFailure(data.title);
    },
  });
  const { page, receiver, troubles } = inbox;
  // How the page shows each. The last has no end.
  const shown = [
    ...HOSTILE.slice(0, 4),
    "\\u202egpj.exe\\u202c",
    "\\u0007\\u001b[2J\\u0008",
    "zero\\u200bwidth\\ufeff",
  ];
  for (const [index, text] of HOSTILE.entries()) {
    const isDead = nextEvent(receiver, "dead");
    const data = { title: text, product: { slug: text }, signal_type: text };
    // An event whose id has controls is quarantined.
    const id = `sig_${index}_${text.replaceAll(/\p{Cc}/gu, "")}`.slice(0, 255);
    await inbox.receive(signalEvent({ id, data }));
    await isDead;
  }
  await page.getByText(`${HOSTILE.length} events shown`).waitFor();
  const list = await page.getByRole("table").innerText();
  for (const text of shown) expect(list).toContain(text);
  for (const [index, text] of shown.entries()) {
    await page.getByRole("link", { name: `sig_${index}_` }).click();
    await page.locator(".timeline summary").click();
    expect(await page.getByRole("heading", { level: 1 }).last().innerText()).toContain(text);
    expect(await page.getByRole("region", { name: "hand-off 1 failed" }).innerText()).toContain(
      text,
    );
    expect(await overflowOf(page)).toBe(0);
    await page.getByRole("link", { name: "All events" }).click();
  }
  for (const id of ["<img src=x onerror=alert(1)>", "\u202E", "%", "//evil.example"]) {
    await page.goto(`${inbox.url}#/events/${encodeURIComponent(id)}`);
    await page.getByText("The inbox has no event with this id.").waitFor();
  }
  expect(await page.evaluate("globalThis.attacked")).toBeUndefined();
  // An id that is not known is answered with 404, which the browser writes into its console.
  expect(troubles.filter((trouble) => !trouble.includes("404"))).toEqual([]);
});

test("everything can be done by keyboard alone, and the focus is where the reader expects it", async () => {
  const inbox = await openBroken();
  const { page, mend, troubles } = inbox;
  const focused = page.locator(":focus");
  await receiveDead(inbox, count(60));
  mend();
  await page.keyboard.press("Tab");
  expect(await focused.innerText()).toBe("Skip to the content");
  await page.keyboard.press("Enter");
  expect(await page.evaluate("document.activeElement.tagName")).toBe("MAIN");

  await page.keyboard.press("/");
  await page.keyboard.type("state:dead sig_3");
  await page.keyboard.press("Enter");
  await page.getByText("11 events shown").waitFor();
  await tabTo(page, "checkbox", "Select sig_31");
  await page.keyboard.press("Space");
  await page.getByText("1 selected").waitFor();
  await page.evaluate("scrollTo(0, 300)");
  await tabTo(page, "link", "sig_31");
  const scroll = await page.evaluate<number>("scrollY");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.evaluate("document.activeElement.tagName")).toBe("H1");
  await page.getByText("It was given up after 1 attempt.").waitFor();
  await tabTo(page, "link", "← All events");
  await page.keyboard.press("Enter");
  await page.getByText("11 events shown").waitFor();
  expect(await focused.innerText()).toBe("sig_31");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.evaluate("document.activeElement.tagName")).toBe("H1");

  await tabTo(page, "button", "Replay…");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  for (let presses = 0; presses < 4; presses += 1) {
    await page.keyboard.press("Tab");
    expect(
      await page.evaluate(
        "document.activeElement === document.body || document.activeElement.closest('dialog') !== null",
      ),
    ).toBe(true);
  }
  await page.keyboard.press("Escape");
  expect(await focused.innerText()).toBe("Replay…");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  await tabTo(page, "button", "Replay");
  await page.keyboard.press("Enter");
  await page.getByText("Nothing more happens.").waitFor();
  expect(await focused.innerText()).toBe("Replay…");

  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Enter");
  await page.getByText("10 events shown").waitFor();
  expect(await page.title()).toBe("(59) Events: state:dead sig_3 · Inbox");
  expect(await page.getByText("1 selected").isVisible()).toBe(true);
  expect(await page.evaluate<number>("scrollY")).toBeGreaterThan(scroll - 100);
  expect(troubles).toEqual([]);
});

test("it works behind a proxy that strips a prefix, its downloads too", async () => {
  const inbox = await openBroken({ prefix: "/behind/proxy" });
  const { page, troubles } = inbox;
  await receiveDead(inbox, count(2));
  await page.getByText("2 events shown").waitFor();
  await page.getByRole("link", { name: "sig_1" }).click();
  await page.getByText("It was given up").waitFor();
  const link = page.url();
  expect(link).toContain("/#/events/sig_1");
  await page.goto("about:blank");
  await page.goto(link);
  await page.getByText("It was given up").waitFor();
  const download = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download the bytes" }).click();
  expect((await download).suggestedFilename()).toBe("sig_1.json");
  await page.getByRole("link", { name: "All events" }).click();
  const exported = page.waitForEvent("download");
  await page.getByRole("link", { name: "Export" }).click();
  expect((await exported).suggestedFilename()).toContain(".ndjson");
  expect(troubles).toEqual([]);
});

test("a lost connection is said, and mended by itself", async () => {
  const inbox = await openBroken();
  const { page, url } = inbox;
  await receiveDead(inbox, ["sig_1"]);
  await page.getByText("1 event shown").waitFor();
  await page.context().setOffline(true);
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
  await page.getByText("connection lost, trying again").waitFor();
  await receiveDead(inbox, ["sig_2"]);
  await page.context().setOffline(false);
  await page.getByText("2 events shown").waitFor();
  await page.getByText("live", { exact: true }).waitFor();
  expect(page.url()).toBe(url);
});

test("no view has a violation that axe-core finds, and none scrolls sideways", async () => {
  const inbox = await openBroken();
  const { page, troubles } = inbox;
  const found: string[] = [];
  const look = async (view: string): Promise<void> =>
    void found.push(...(await faultsOf(page, `inbox ${view}`)));
  await page.getByText("No event yet").waitFor();
  await look("the empty inbox");
  await receiveDead(inbox, [...count(3), `sig_${"long".repeat(40)}`]);
  await inbox.receive("not json");
  await page.getByText("5 events shown").waitFor();
  await page.getByRole("checkbox", { name: "Select all shown" }).check();
  await look("the list");
  await page.getByRole("button", { name: "Replay…" }).click();
  await look("the confirmation");
  await page.keyboard.press("Escape");
  await page.getByRole("link", { name: "sig_1" }).click();
  await page.getByText("Raw bytes").click();
  await look("a dead event");
  await page.goto(`${inbox.url}#/?q=nothing:known`);
  await page.getByText("The search has a term that is not known.").waitFor();
  await look("a refused search");
  expect(found).toEqual([]);
  // The browser writes into its console that the search was answered with 400.
  expect(troubles.filter((trouble) => !trouble.includes("400"))).toEqual([]);
});
