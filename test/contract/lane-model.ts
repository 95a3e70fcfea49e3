import type { ClaimedEvent, NewEvent, Settlement } from "../../src/kit/inbox/batch.js";
import { laneKey, rankOf } from "../../src/kit/inbox/lane.js";
import type { InboxStore } from "../../src/kit/inbox/store.js";
import { SUPERSEDED } from "../../src/kit/inbox/done-reasons.js";
import type { StoredEvent } from "../../src/kit/inbox/stored-events.js";
import type { Clock } from "../../src/base/time/clock.js";
import { batchOf, claimOf } from "../unit/kit/inbox/new-event.js";
import { newEvent } from "./cases/store-case.js";

/** A source of random numbers that gives the same ones for a seed (mulberry32). */
export function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

type Lease = Pick<ClaimedEvent, "seq" | "token" | "eventId" | "lane" | "earlier">;

/** What a process is: a store with the events that it holds. */
interface Process {
  store: InboxStore;
  held: Lease[];
}

export interface Schedule {
  seed: number;
  endpoint: string;
  steps: number;
  /** After so many steps all events are read and checked. */
  checkedSteps: number;
  skips: boolean;
  /** Whether some of the events come in bursts, and how their newest is found. */
  bursts: "none" | "by arrival" | "by rank";
  clock: Clock;
  /** One, or two that share the medium. */
  stores: readonly InboxStore[];
  /** In a transaction of its own. */
  execute?: ((sql: string) => Promise<unknown>) | undefined;
}

const KEYS = ["a", "b", "c", null];
/** Nothing waits for the clock: a person makes it due. */
const QUIET_TIMES = [
  { quietMs: 0, longestMs: 0 },
  { quietMs: 600_000, longestMs: 900_000 },
];

/**
 * Does what receivers and people do to ordered events, in an order that the seed chooses, and checks
 * after steps that each key has one head at most, that only heads are leased, and in the end
 * that nothing waits for good, that the events of a key came in the order of acceptance, and that a
 * hand-off has stood for each event of a burst, or will.
 *
 * @throws Error that begins with the seed
 */
export async function runSchedule(schedule: Schedule): Promise<void> {
  const { endpoint, clock, skips, seed } = schedule;
  const random = randomOf(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[random(items.length)] as Item;
  const processes: Process[] = schedule.stores.map((store) => ({ store, held: [] }));
  const [first] = processes as [Process];
  /** By id: its key, and what exempts it from the order. */
  const events = new Map<string, { key: string | null; isMoved: boolean; wasBegun: boolean }>();
  /** Those that `completeSql` has ended, and nothing else yet. */
  const completed = new Set<string>();
  const log: string[] = [];
  /** What successful hand-offs stood for: their event, and the earlier ones of its burst. */
  const covered = new Set<string>();
  /** The successful hand-offs of each key, by seq: of two commits at once either can be the first. */
  const successes = new Map<string, number[]>();
  let count = 0;

  function wrong(what: string): never {
    throw new Error(`schedule ${seed} of ${first.store.name}: ${what}\n${log.join("\n")}`);
  }

  function madeEvent(): NewEvent {
    const key = pick(KEYS);
    const eventId = `evt_${(count += 1)}`;
    events.set(eventId, { key, isMoved: false, wasBegun: false });
    const inBurst = schedule.bursts !== "none" && key !== null && random(3) > 0;
    const isLeased = !inBurst && random(2) === 0;
    const rank = schedule.bursts === "by rank" ? rankOf(random(10)) : null;
    const burst = inBurst ? { ...pick(QUIET_TIMES), rank } : null;
    return newEvent(eventId, {
      state: isLeased ? "leased" : random(12) === 0 ? "done" : "ready",
      leaseMs: isLeased ? 60_000 : null,
      lane: key === null ? null : { key: laneKey(key), skips, burst },
    });
  }

  function settlementOf(lease: Lease): Settlement {
    const state = pick(["done", "done", "done", "ready", "dead"] as const);
    return {
      seq: lease.seq,
      token: lease.token,
      state,
      delayMs: 0,
      attempts: 1,
      possiblyRepeated: false,
      lastError: state === "done" ? null : "Error: no",
      receivedAt: clock.now(),
      lane: lease.lane ?? null,
    };
  }

  function handedOff({ eventId, earlier }: Lease): void {
    for (const each of earlier?.events ?? []) covered.add(each.eventId);
    covered.add(eventId);
  }

  function begun(eventId: string): void {
    const event = events.get(eventId);
    if (event === undefined || event.key === null) return;
    event.wasBegun = true;
  }

  async function commit(process: Process): Promise<void> {
    const accepts = Array.from({ length: random(4) }, madeEvent);
    const settled = process.held.filter(() => random(2) === 0);
    process.held = process.held.filter((lease) => !settled.includes(lease));
    const settlements = settled.map(settlementOf);
    const claim = random(2) === 0 ? claimOf({ held: process.held.map(({ seq }) => seq) }) : null;
    log.push(
      `commit ${processes.indexOf(process)}: ${settlements.map(({ state }, index) => `${settled[index]?.eventId} ${state}`).join()}` +
        ` + ${accepts.map(({ eventId, state }) => `${eventId}(${events.get(eventId)?.key}) ${state}`).join()}${claim ? " + claim" : ""}`,
    );
    const batch = batchOf({ endpoint, accepts, settlements, claim });
    const result = await process.store.commit(batch);
    settlements.forEach((settlement, index) => {
      if (result.settlements[index] !== true) return;
      const { eventId = "" } = settled[index] ?? {};
      const { key = null, isMoved = false } = events.get(eventId) ?? {};
      if (settlement.state === "done") handedOff(settled[index] as Lease);
      if (settlement.state === "done" && key !== null && !isMoved)
        successes.set(key, [...(successes.get(key) ?? []), settlement.seq]);
      // What is dead is replayed, or skipped: it comes later, or never.
      if (settlement.state === "dead" && skips) (events.get(eventId) ?? { isMoved }).isMoved = true;
    });
    result.accepts.forEach((accept, index) => {
      const { eventId = "" } = accepts[index] ?? {};
      if (accept.status !== "accepted") wrong(`${eventId} is a duplicate`);
      if (accept.token === 0) return;
      const lane = accepts[index]?.lane?.key ?? null;
      process.held.push({ seq: accept.seq, token: accept.token, eventId, lane });
      begun(eventId);
    });
    for (const { seq, token, eventId, lane = null, earlier = null } of result.claim?.events ?? []) {
      log.push(`claimed ${eventId} with ${earlier?.count ?? 0}`);
      process.held.push({ seq, token, eventId, lane, earlier });
      begun(eventId);
    }
  }

  /** Everything that a person does. */
  async function move({ store }: Process): Promise<void> {
    const eventId = `evt_${1 + random(count || 1)}`;
    const what = pick(["replay", "replay", "discard", "retryNow", "unblock"] as const);
    const known = events.get(eventId);
    if (known === undefined) return;
    if (what === "unblock") {
      if (known.key === null) return;
      const dead = (await stored(store)).filter(
        (each) => each.state === "dead" && events.get(each.eventId)?.key === known.key,
      );
      await store.unblock(endpoint, laneKey(known.key));
      for (const each of dead) (events.get(each.eventId) ?? known).isMoved = true;
      log.push(`unblock ${known.key}`);
      return;
    }
    const before = await store.get(endpoint, eventId);
    const [outcome] =
      what === "replay"
        ? await store.replay([{ endpoint, eventId }], () => null)
        : await store[what]([{ endpoint, eventId }]);
    log.push(`${what} ${eventId}: ${outcome}`);
    // Another process may end a head meanwhile, but not a dead one.
    const isHead = before?.state === "dead" && before.lane?.place === "head";
    if (outcome === "moved" && what === "replay" && !isHead) known.isMoved = true;
    if (outcome === "moved" && what === "discard") covered.add(eventId);
    // The one that takes its place may be older than what has come since.
    if (outcome === "moved" && what === "discard")
      for (const each of await store.list({ endpoint, limit: 1000 }))
        (events.get(each.eventId) ?? known).isMoved ||= each.state === "ready";
  }

  async function crash(process: Process): Promise<void> {
    // Leases of a shared store end in other ways.
    if (process.store.shared) return;
    log.push("crash");
    process.held = [];
    await process.store.reclaim({ endpoint, held: [], crashed: true });
  }

  /** A transaction of a callback ends the lease; the settlement follows later, or is lost. */
  async function complete(process: Process): Promise<void> {
    const [lease] = process.held;
    const sql = lease && process.store.completeSql?.(lease);
    if (lease === undefined || sql === undefined) return;
    log.push(`complete ${lease.eventId}`);
    await schedule.execute?.(sql);
    completed.add(lease.eventId);
    handedOff(lease);
    const { key = null, isMoved = false } = events.get(lease.eventId) ?? {};
    if (key !== null && !isMoved) successes.set(key, [...(successes.get(key) ?? []), lease.seq]);
    process.held = process.held.filter((each) => each !== lease);
    if (random(2) === 0) return;
    const settlement = { ...settlementOf(lease), state: "done" as const, mayBeCompleted: true };
    const batch = batchOf({ endpoint, settlements: [settlement] });
    await process.store.commit(batch);
    completed.delete(lease.eventId);
  }

  /** Most are done, and are not read before the end. */
  async function stored(store: InboxStore, withDone = false): Promise<StoredEvent[]> {
    const listed = await store.list({ endpoint, limit: 1000 });
    const read = listed.filter(
      ({ state, eventId }) => withDone || state !== "done" || completed.has(eventId),
    );
    const found = await Promise.all(read.map(({ eventId }) => store.get(endpoint, eventId)));
    return found.filter((each) => each !== undefined);
  }

  async function check(withDone = false): Promise<StoredEvent[]> {
    const all = await stored(first.store, withDone);
    for (const key of KEYS) {
      if (key === null) continue;
      const inLane = all.filter(
        ({ eventId, lane }) => events.get(eventId)?.key === key && lane?.place != null,
      );
      const heads = inLane.filter(({ lane }) => lane?.place === "head");
      if (heads.length > 1)
        wrong(`two heads of ${key}: ${heads.map((each) => each.eventId).join()}`);
      const [head] = heads;
      if (inLane.length > 0 && head === undefined) wrong(`nothing is the head of ${key}`);
      if (head !== undefined && completed.has(head.eventId)) continue;
      if (head?.state === "done" || (head?.state === "dead" && skips))
        wrong(`${head.eventId} has ended, and is the head`);
      for (const each of inLane) {
        if (each === head) continue;
        if (each.state !== "ready" || each.waitsBehind !== head?.eventId)
          wrong(`${each.eventId} does not wait behind ${head?.eventId}`);
      }
      for (const each of all)
        if (each.state === "leased" && events.get(each.eventId)?.key === key && each !== head)
          wrong(`${each.eventId} is leased, and not the head`);
    }
    return all;
  }

  function checkOrder(): void {
    for (const [key, numbers] of successes) {
      const sorted = numbers.toSorted((a, b) => a - b);
      if (numbers.some((number, index) => number !== sorted[index]))
        wrong(`${key} came as ${numbers.join()}`);
    }
  }

  for (let step = 0; step < schedule.steps; step += 1) {
    const process = pick(processes);
    const kind = random(20);
    if (kind < 13) {
      // Two processes commit at the same time.
      if (processes.length > 1 && random(2) === 0) await Promise.all(processes.map(commit));
      else await commit(process);
    } else if (kind < 17) {
      const other = processes.find((each) => each !== process);
      await Promise.all([move(process), other === undefined ? undefined : commit(other)]);
    } else if (kind === 17) await crash(process);
    else if (kind === 18) await complete(process);
    else {
      await process.store.tendLanes(endpoint, true);
      completed.clear();
    }
    if (step % schedule.checkedSteps === 0) await check();
    checkOrder();
  }

  await first.store.tendLanes(endpoint, true);
  completed.clear();
  // Everything goes on to its end: nothing is left but what is dead, and what waits behind it.
  for (let round = 0; round < 100; round += 1) {
    for (const process of processes) {
      const settlements = process.held.map((lease) => ({
        ...settlementOf(lease),
        state: "done" as const,
        lastError: null,
      }));
      const held = process.held.splice(0);
      const batch = batchOf({ endpoint, settlements, claim: claimOf() });
      const { claim, settlements: applied } = await process.store.commit(batch);
      held.filter((_, index) => applied[index] === true).forEach(handedOff);
      for (const { seq, token, eventId, lane = null, earlier = null } of claim?.events ?? [])
        process.held.push({ seq, token, eventId, lane, earlier });
    }
    // A crash has a delay.
    const ready = await first.store.list({ endpoint, state: "ready", limit: 1000 });
    const moved = await first.store.retryNow(ready);
    if (processes.every(({ held }) => held.length === 0) && !moved.includes("moved")) break;
  }
  const inTheEnd = await check(true);
  // What is dead still stands for the earlier events of its burst.
  const superseded = inTheEnd.filter(
    ({ state, lastError, eventId }) =>
      state === "done" && lastError?.startsWith(SUPERSEDED) === true && !covered.has(eventId),
  );
  const unfinished = inTheEnd.reduce(
    (sum, { state, earlierCount }) => sum + (state === "done" ? 0 : earlierCount),
    0,
  );
  if (superseded.length > unfinished)
    wrong(`no hand-off stands for ${superseded.map(({ eventId }) => eventId).join()}`);
  for (const { eventId, state, waitsBehind } of inTheEnd) {
    const head = waitsBehind === null ? null : await first.store.get(endpoint, waitsBehind);
    if (state === "leased" || (state === "ready" && head?.state !== "dead"))
      wrong(`${eventId} is ${state} in the end`);
  }
}
