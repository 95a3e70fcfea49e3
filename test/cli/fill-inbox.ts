import { createHash } from "node:crypto";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { NewEvent, Settlement } from "../../src/kit/inbox/batch.js";
import type { InboxStore } from "../../src/kit/index.js";
import { postgresStore } from "../../src/kit/stores/postgres/postgres-store.js";
import { sqliteStore } from "../../src/kit/stores/sqlite/sqlite-store.js";
import { createManualClock } from "../../src/kit/testing/index.js";
import {
  makePool,
  newSchemaName,
  POSTGRES_PORT,
  POSTGRES_URL,
  quotedName,
} from "../contract/postgres-medium.js";
import { hasServer } from "../prerequisites.js";
import { tempFiles } from "./temp-files.js";

const DAY_MS = 24 * 60 * 60 * 1000;

export interface Filling extends Partial<Omit<NewEvent, "body" | "state">> {
  eventId: string;
  /** `failing`: it waits after a failed attempt. */
  state?: NewEvent["state"] | "dead" | "failing";
  body?: string | Uint8Array;
  /** Since when it is in its state. */
  ageDays?: number;
}

export const hasPostgres: boolean = await hasServer(POSTGRES_PORT);

/** Where the inboxes of a test are. Each has no inbox yet, and is dropped after the test. */
export const KINDS: readonly { kind: string; isThere: boolean; newPlace: () => Place }[] = [
  { kind: "a file", isThere: true, newPlace: newFile },
  {
    kind: "PostgreSQL",
    isThere: hasPostgres || process.env["CI"] !== undefined,
    newPlace: newSchema,
  },
];

/** The place of an inbox. */
export interface Place {
  /** The options of the command line that name it. */
  args: string[];
  createStore: () => InboxStore;
  /** Makes events older. */
  age?: (eventIds: readonly string[], ms: number) => Promise<void>;
}

/** A file in a new folder. */
export function newFile(): Place {
  const path = join(tempFiles(), "signals.db");
  return { args: ["--db", path], createStore: () => sqliteStore(path) };
}

/** A schema of PostgreSQL. */
export function newSchema(): Place & { schema: string } {
  const schema = newSchemaName();
  const name = quotedName(schema);
  const onAdmin = async (text: string, values: unknown[] = []): Promise<void> => {
    const admin = makePool(1);
    await admin.query(text, values);
    await admin.end();
  };
  onTestFinished(() => onAdmin(`DROP SCHEMA IF EXISTS ${name} CASCADE`));
  return {
    schema,
    args: ["--db", POSTGRES_URL, "--schema", schema],
    createStore: () => postgresStore({ connectionString: POSTGRES_URL, schema }),
    age: (eventIds, ms) =>
      onAdmin(
        `UPDATE ${name}.inbox SET due_at = due_at - $2, queue_at = queue_at - $2 WHERE event_id = ANY ($1)`,
        [eventIds, ms],
      ),
  };
}

/** An inbox in a file, with these events, that no receiver has open. */
export async function fillInbox(
  fillings: readonly Filling[],
  endpoint = "default",
): Promise<string> {
  const place = newFile();
  await fill(place, fillings, endpoint);
  return place.args[1] as string;
}

/** Stores the events in this order, and closes the inbox. */
export async function fill(
  place: Place,
  fillings: readonly Filling[],
  endpoint = "default",
): Promise<void> {
  const store = place.createStore();
  const now = Date.now();
  const clock = createManualClock(now);
  await store.open({ endpoint, clock });
  const batch = { endpoint, settlements: [], accepts: [], claim: null };
  // Neighbours of one age are one batch. The age is that of the store's clock.
  for (let from = 0, to = 0; from < fillings.length; from = to) {
    const { ageDays = 0 } = fillings[from] as Filling;
    // PostgreSQL stores the events of a batch in the order of their ids.
    while (
      to < fillings.length &&
      (fillings[to]?.ageDays ?? 0) === ageDays &&
      (to === from || isInOrder(fillings, to))
    )
      to += 1;
    clock.setNow(now - ageDays * DAY_MS);
    const portion = fillings.slice(from, to);
    const accepts = portion.map((filling) => newEvent(filling, clock.now()));
    const accepted = (await store.commit({ ...batch, accepts })).accepts;
    clock.setNow(now);
    const settlements = portion.flatMap(({ state, reason }, index): Settlement[] => {
      const result = accepted[index];
      if ((state !== "dead" && state !== "failing") || result?.status !== "accepted") return [];
      const { seq, token } = result;
      const lastError = reason ?? "the queue is down";
      const after =
        state === "dead"
          ? ({ state, delayMs: 0 } as const)
          : ({ state: "ready", delayMs: DAY_MS } as const);
      const receivedAt = accepts[index]!.received.at;
      return [
        { seq, token, ...after, attempts: 20, possiblyRepeated: false, lastError, receivedAt },
      ];
    });
    await store.commit({ ...batch, settlements });
    const ids = portion.map(({ eventId }) => eventId);
    if (ageDays > 0) await place.age?.(ids, ageDays * DAY_MS);
  }
  await store.close(endpoint);
}

function isInOrder(fillings: readonly Filling[], index: number): boolean {
  return (fillings[index - 1] as Filling).eventId < (fillings[index] as Filling).eventId;
}

function newEvent(
  { state = "done", body: content = "{}", ageDays: _age, ...event }: Filling,
  at: number,
): NewEvent {
  const body = Buffer.from(content as string);
  return {
    type: "signal.published",
    received: {
      at,
      headers: { "content-type": "application/json", "x-service-signature": "t=1,v1=f00d" },
    },
    leaseMs: state === "dead" || state === "failing" ? DAY_MS : null,
    bodyHash: createHash("sha256").update(body).digest(),
    reason: null,
    subtype: null,
    subject: null,
    sender: null,
    contentKey: null,
    possiblyRepeated: false,
    ...event,
    // An event becomes dead by a settlement, so it has to be leased first.
    state: state === "dead" || state === "failing" ? "leased" : state,
    body,
  };
}
