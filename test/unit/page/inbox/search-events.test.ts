import { expect, test } from "vitest";
import { openInbox } from "../../../../src/kit/inbox/open-inbox.js";
import { memoryStore } from "../../../../src/kit/stores/memory.js";
import { createManualClock } from "../../../../src/kit/testing/index.js";
import { createTitles, eventsOf } from "../../../../src/page/inbox/answers.js";
import { joinInboxes } from "../../../../src/page/inbox/page-inbox.js";
import { commit, newEvent } from "../../../contract/cases/store-case.js";

test("words are looked for in title, type, subject, id and error, whatever their case, and ids by an index", async () => {
  const store = memoryStore();
  const inboxes = ["default", "stripe"].map((name) => openInbox(store, name, () => () => null));
  for (const { endpoint } of inboxes) await store.open({ endpoint, clock: createManualClock() });
  const titled = (eventId: string, title: string, over = {}) =>
    newEvent(eventId, { body: Buffer.from(JSON.stringify({ data: { title } })), ...over });
  const others = Array.from({ length: 1100 }, (_, index) => newEvent(`sig_other_${index}`));
  const accepts = [
    titled("sig_first_1", "Price of Acme fell after sig_other_1"),
    ...others,
    titled("sig_1", "Price of Acme decreased"),
    titled("sig_2", "Price of Other decreased", { subject: "acme" }),
    newEvent("sig_3", { state: "quarantined", reason: "Price unreadable" }),
  ];
  await commit(store, { accepts });
  const shop = newEvent("evt_price", { sender: "stripe", type: "price.created" });
  await commit(store, { endpoint: "stripe", accepts: [shop] });
  const inbox = joinInboxes(inboxes);
  const titlesOf = createTitles(inbox);
  const page = async (q: string, before?: number | null) => {
    const query = new URLSearchParams({ q, limit: "100", ...(before && { before: `${before}` }) });
    const { events, nextBeforeSeq } = await eventsOf(inbox, query, 0, titlesOf);
    return { ids: events.map(({ eventId }) => eventId), next: nextBeforeSeq };
  };
  const find = async (q: string) => (await page(q)).ids;
  const newest = await page("PRICE");
  expect(newest.ids).toEqual(["evt_price", "sig_3", "sig_2", "sig_1"]);
  // One answer looks at a bounded number of events.
  const none = await page("price", newest.next);
  expect(none.ids).toEqual([]);
  expect((await page("price", none.next)).ids).toEqual(["sig_first_1"]);
  expect(await find("price acme")).toEqual(["sig_2", "sig_1"]);
  expect(await find('"acme decreased" state:ready')).toEqual(["sig_1"]);
  expect(await find("price id:sig_3")).toEqual(["sig_3"]);
  expect(await find("sig_first_1")).toEqual(["sig_first_1"]);
  // A later page of an id's events has no words in it.
  expect((await page("sig_other_1", 3)).ids).toEqual([]);
  await expect(find("endpoint:strip")).rejects.toThrow('Did you mean "stripe"?');
});
