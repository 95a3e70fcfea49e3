import { expectTypeOf, test } from "vitest";
import {
  createReceiver,
  type Batch,
  type BatchResult,
  type Clock,
  type InboxEntry,
  type InboxStore,
  type MoveOutcome,
  type Activity,
  type SearchPage,
  type StoredEvent,
  type StoreStats,
} from "../../src/index.js";
import type { TakeOverResult } from "../../src/index.js";
import { memoryStore } from "../../src/stores/memory.js";
import { sqliteStore } from "../../src/stores/sqlite/sqlite-store.js";

/** A user's own store, in the shape in which one would be written: a class of their own over some client. */
class OwnStore implements InboxStore {
  readonly name = "own";
  readonly durable = true;
  readonly shared = true;
  async open(context: { endpoint: string; clock: Clock }): Promise<void> {
    void context;
  }
  async close(endpoint: string): Promise<void> {
    void endpoint;
  }
  async commit(batch: Batch): Promise<BatchResult> {
    return {
      settlements: batch.settlements.map(() => true),
      accepts: batch.accepts.map((_event, index) => ({ status: "accepted", seq: index, token: 1 })),
      claim: batch.claim && { events: [], dead: [], nextDueInMs: null, isSuspectDue: false },
    };
  }
  async takeOver(): Promise<TakeOverResult> {
    return { freed: 0, dead: [] };
  }
  async list(): Promise<InboxEntry[]> {
    return [];
  }
  async search(): Promise<SearchPage> {
    return { entries: [], nextBeforeSeq: null };
  }
  async activity(): Promise<Activity[]> {
    return [];
  }
  async get(): Promise<StoredEvent | undefined> {
    return undefined;
  }
  async stats(): Promise<StoreStats> {
    return { ready: 0, leased: 0, done: 0, dead: 0, quarantined: 0, total: 0, oldestReadyAgeMs: null };
  }
  async replay(): Promise<MoveOutcome[]> {
    return ["moved"];
  }
  async discard(): Promise<MoveOutcome[]> {
    return ["not_found"];
  }
  async prune(): Promise<{ payloads: number; keys: number }> {
    return { payloads: 0, keys: 0 };
  }
}

test("the stores of the package and a user's own are inbox stores", () => {
  expectTypeOf(memoryStore).returns.toExtend<InboxStore>();
  expectTypeOf(sqliteStore).returns.toExtend<InboxStore>();
  expectTypeOf<OwnStore>().toExtend<InboxStore>();
  createReceiver({ secrets: "whsec_types", store: new OwnStore(), onSignal: () => {}, logger: false });
});
