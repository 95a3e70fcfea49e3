import { z } from "zod";
import { checkOptions } from "../../../base/options/option-error.js";
import { nextTurn } from "../../../base/time/timers.js";
import { mentioningOf, type Mentioning } from "./mentions.js";
import type { EventKey, InboxStore } from "../store.js";

/** Which events `inbox.erase` erases. */
export type EraseQuery =
  | { ids: readonly string[] }
  /** Those with exactly this subject. */
  | { subject: string; tenant?: string | undefined }
  /**
   * Those that have this text, of at least 4 characters, whatever the case of its letters: in their
   * id, subject, errors, headers or body, also as JSON and forms write it. Each body is read.
   */
  | { containing: string; tenant?: string | undefined };

/** The result of `inbox.erase`. */
export interface Erasure {
  /** How many events were erased. No query finds what they had. */
  erased: number;
  /** Whether the files of the inbox are free of it too. */
  files: "clean" | "not yet";
  /** Why not yet, and what to do; null when they are clean. */
  why: string | null;
}

const PAGE = 50;

const schema = z
  .strictObject({
    ids: z.array(z.string()).optional(),
    subject: z.string().min(1).optional(),
    containing: z.string().min(4).optional(),
    tenant: z.string().min(1).optional(),
  })
  .refine(
    ({ ids, subject, containing, tenant }) =>
      [ids, subject, containing].filter((value) => value !== undefined).length === 1 &&
      (ids === undefined || tenant === undefined),
    "expected either ids, or a subject or containing, which can have a tenant",
  );

/** What a transaction holds is tried again so often, after so long. */
const MOST_TRIES = 20;
const RETRY_MS = 50;

/** See `inbox.erase`. */
export async function erase(
  store: InboxStore,
  endpoint: string,
  given: EraseQuery,
): Promise<Erasure> {
  const query = checkedQuery("inbox.erase", given);
  const hidden = query.subject ?? query.containing ?? null;
  let erased = 0;

  /** @returns those that a transaction holds */
  async function eraseSome(events: readonly EventKey[]): Promise<EventKey[]> {
    const outcomes = await store.erase(events, hidden);
    erased += outcomes.filter((outcome) => outcome === "moved").length;
    return events.filter((_event, index) => outcomes[index] === "wrong_state");
  }

  const held: EventKey[] = [];
  for await (const events of eventsOf(store, endpoint, query))
    held.push(...(await eraseSome(events)));
  for (let tries = 0; held.length > 0 && tries < MOST_TRIES; tries += 1) {
    await new Promise((resume) => setTimeout(resume, RETRY_MS));
    held.push(...(await eraseSome(held.splice(0))));
  }
  const why =
    held.length > 0
      ? `Transactions of callbacks hold ${held.length} events: erase again when they have ended.`
      : await store.wipe(hidden);
  return { erased, files: why === null ? "clean" : "not yet", why };
}

const checkedQuery = (name: string, query: EraseQuery): z.output<typeof schema> =>
  checkOptions({ name, page: "docs/personal-data.md" }, schema, query);

/** Finds what `erase` would erase, page by page. */
export const findEvents = (
  store: InboxStore,
  endpoint: string,
  query: EraseQuery,
): AsyncGenerator<readonly EventKey[]> =>
  eventsOf(store, endpoint, checkedQuery("inbox erase and export", query));

async function* eventsOf(
  store: InboxStore,
  endpoint: string,
  { ids = [], subject, containing, tenant }: z.output<typeof schema>,
): AsyncGenerator<readonly EventKey[]> {
  const isIts = ({ eventId }: EventKey) => tenant === undefined || eventId.startsWith(`${tenant}/`);
  if (containing !== undefined) {
    const mentioning = store.mentioning ?? readMentioning;
    for (let afterSeq: number | null = 0; afterSeq !== null; await nextTurn()) {
      const page: Mentioning = await mentioning.call(store, endpoint, containing, afterSeq);
      yield page.events.filter(isIts);
      afterSeq = page.next;
    }
  } else if (subject !== undefined) {
    // The oldest first: of a burst the newest last, so that none before it takes its place meanwhile.
    const pages: (readonly EventKey[])[] = [];
    for (let beforeSeq: number | null | undefined; beforeSeq !== null;) {
      const page = await store.search(endpoint, { subject, beforeSeq, limit: PAGE });
      pages.unshift(page.entries.filter(isIts).toReversed());
      beforeSeq = page.nextBeforeSeq;
    }
    yield* pages;
  } else {
    for (let from = 0; from < ids.length; from += PAGE) {
      const found = ids.slice(from, from + PAGE).map((id) => store.get(endpoint, id, 0));
      yield (await Promise.all(found)).filter((event) => event !== undefined);
    }
  }
}

/** For a store that has no thread for it. */
async function readMentioning(
  this: InboxStore,
  endpoint: string,
  text: string,
  afterSeq: number,
): Promise<Mentioning> {
  const page = await this.list({ endpoint, afterSeq, limit: PAGE });
  const events = await Promise.all(page.map(({ eventId }) => this.get(endpoint, eventId)));
  return mentioningOf(page, events, text);
}
