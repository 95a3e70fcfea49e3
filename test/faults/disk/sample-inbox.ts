import { createHash } from "node:crypto";
import { copyFileSync } from "node:fs";
import type { Settlement } from "../../../src/kit/inbox/batch.js";
import type { InboxStore, StoredEvent } from "../../../src/kit/index.js";
import { sqliteStore } from "../../../src/kit/stores/sqlite/sqlite-store.js";
import { createManualClock, signalEvent } from "../../../src/kit/testing/index.js";
import { batchOf, newEvent, opened } from "../../unit/kit/inbox/new-event.js";

const ENDPOINT = "default";
const NOW = 1_800_000_000_000;
const EVENTS = 30;

/** All that an inbox says of its events, by id. */
export type Contents = ReadonlyMap<string, StoredEvent>;

/**
 * A small inbox with a page of each kind: events in all states, bodies of a line and of several
 * pages, and pages that are free again.
 *
 * @param crashed as a crash leaves it: the later commits are in the WAL alone
 * @returns what it held before the commits of the WAL and after each of them; the last is what it
 * holds
 */
export async function makeSampleInbox(path: string, crashed: boolean): Promise<Contents[]> {
  const original = crashed ? `${path}-original` : path;
  const clock = createManualClock(NOW);
  const store = await opened(sqliteStore(original), clock);
  const old = await accept(store, 0);
  for (const [from, to] of [
    [0, 3],
    [3, 6],
    [6, EVENTS],
  ] as const) {
    clock.setNow(NOW + from);
    await settle(store, old, from, to);
  }
  // Closing writes the WAL into the file.
  await store.close(ENDPOINT);
  await opened(store, clock);
  const held = [await readAll(store)];
  await store.prune({ endpoint: ENDPOINT, payloadsOlderThanMs: 0, keysOlderThanMs: 3, limit: 500 });
  held.push(await readAll(store));
  const seqs = await accept(store, EVENTS);
  held.push(await readAll(store));
  await settle(store, seqs);
  held.push(await readAll(store));
  if (crashed) for (const suffix of ["", "-wal"]) copyFileSync(original + suffix, path + suffix);
  await store.close(ENDPOINT);
  return held;
}

async function accept(store: InboxStore, first: number): Promise<number[]> {
  const accepts = Array.from({ length: EVENTS }, (_, index) => {
    const number = first + index;
    const summary = "x".repeat([10, 300, 3000, 12_000][number % 4] ?? 0);
    const event = signalEvent({ id: `evt_${number}`, data: { title: `event ${number}`, summary } });
    return newEvent({ signal: event, state: number % 5 === 4 ? "ready" : "leased" });
  });
  const result = await store.commit(batchOf({ accepts }));
  return result.accepts.map(({ seq }) => seq);
}

async function settle(
  store: InboxStore,
  seqs: readonly number[],
  from = 0,
  to = EVENTS,
): Promise<void> {
  const values = {
    token: 1,
    delayMs: 0,
    attempts: 1,
    possiblyRepeated: false,
    lastError: null,
    receivedAt: 0,
  };
  const settlements = seqs.flatMap((seq, index): Settlement[] => {
    const state = (["done", "done", "dead"] as const)[index % 5];
    return state === undefined || index < from || index >= to ? [] : [{ seq, state, ...values }];
  });
  await store.commit(batchOf({ settlements }));
}

/** @throws SignalboxError when the store cannot give an event that it lists */
export async function readAll(store: InboxStore): Promise<Contents> {
  const all = new Map<string, StoredEvent>();
  for (const { eventId } of await store.list({ limit: 10_000 })) {
    const event = await store.get(ENDPOINT, eventId);
    if (event !== undefined) all.set(eventId, event);
  }
  return all;
}

/** For comparing: the same text for the same contents. */
export function textOf(contents: Contents): string {
  const events = [...contents.values()].sort((one, other) => one.seq - other.seq);
  return JSON.stringify(
    events.map(({ rawBody, bodyHash, ...entry }) => [
      entry,
      rawBody && hashOf(rawBody),
      hex(bodyHash),
    ]),
  );
}

/** Whether the payload is what was signed. */
export function isSound({ rawBody, bodyHash }: StoredEvent): boolean {
  return rawBody === null || hashOf(rawBody) === hex(bodyHash);
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const hashOf = (body: Uint8Array): string => createHash("sha256").update(body).digest("hex");
