import type { Clock } from "../time/clock.js";
import {
  CLOCK_SLACK_MS,
  CRASH_LOOP,
  MAX_CRASHES,
  SUSPECT_CRASHES,
  clockOf,
  closedStoreError,
  endpointInUseError,
  withoutPayload,
  type AcceptResult,
  type ClaimRequest,
  type ClaimResult,
  type EventKey,
  type InboxStore,
  type MoveOutcome,
  type NewEvent,
  type ReadAgain,
  type ReplayOutcome,
  type Settlement,
} from "../inbox/store.js";
import {
  ACTIVITY_KEPT_MS,
  MOST_PAST_STEPS,
  type Activity,
  type PastStep,
  type SearchQuery,
  type InboxEntry,
  type ReceivedDelivery,
  type StateCounts,
} from "../inbox/stored-events.js";

const MINUTE_MS = 60_000;

interface Row extends InboxEntry {
  token: number;
  readySince: number;
  received: ReceivedDelivery;
  bodyHash: Uint8Array;
  body: Uint8Array | null;
  history: PastStep[];
}

/**
 * An inbox in memory, for tests and trials. Its events are lost when the process ends, but not at `close`: a receiver that is
 * started again with the same store object finds them.
 */
export function memoryStore(): InboxStore {
  const rows = new Map<number, Row>();
  const byKey = new Map<string, Row>();
  /** The clocks of the open endpoints. */
  const clocks = new Map<string, Clock>();
  /** By endpoint and minute. */
  const activity = new Map<string, Activity>();
  let lastSeq = 0;

  function assertOpen(): void {
    if (clocks.size === 0) throw closedStoreError();
  }

  function count(endpoint: string, what: Exclude<keyof Activity, "at">, now: number): void {
    const at = now - (now % MINUTE_MS);
    const key = keyOf(endpoint, String(at));
    const counts = activity.get(key) ?? { at, accepted: 0, handedOff: 0, failed: 0 };
    counts[what] += 1;
    activity.set(key, counts);
  }

  function settle({ seq, token, delayMs, ...values }: Settlement, now: number): boolean {
    const row = rows.get(seq);
    if (row === undefined || row.token !== token) return false;
    const lastError = values.lastError ?? row.lastError;
    // Otherwise a settlement under this token has ended the lease before.
    if (row.state !== "leased") return true;
    Object.assign(row, { ...values, lastError, dueAt: now + delayMs, readySince: now });
    if (values.state === "done") count(row.endpoint, "handedOff", now);
    if (values.lastError !== null) {
      count(row.endpoint, "failed", now);
      addStep(row, { at: now, kind: "failed", attempts: values.attempts, error: values.lastError });
    }
    return true;
  }

  function accept(event: NewEvent, endpoint: string, now: number): AcceptResult {
    const key = keyOf(endpoint, event.eventId);
    const original = byKey.get(key);
    if (original !== undefined) {
      const sameBody = Buffer.compare(original.bodyHash, event.bodyHash) === 0;
      return { status: "duplicate", seq: original.seq, sameBody };
    }
    const { eventId, type, state, leaseMs, received, reason, signalType, product } = event;
    lastSeq += 1;
    const row: Row = {
      seq: lastSeq,
      endpoint,
      eventId,
      type,
      state,
      dueAt: now + (leaseMs ?? 0),
      readySince: now,
      receivedAt: received.at,
      received,
      lastError: reason,
      token: state === "leased" ? 1 : 0,
      attempts: 0,
      crashes: 0,
      possiblyRepeated: false,
      replayed: false,
      signalType,
      product,
      history: [],
      // Copies, because the caller may use its buffers again.
      bodyHash: Uint8Array.from(event.bodyHash),
      body: Uint8Array.from(event.body),
    };
    rows.set(row.seq, row);
    byKey.set(key, row);
    count(endpoint, "accepted", now);
    return { status: "accepted", seq: row.seq, token: row.token };
  }

  function claim({ leaseMs, limit, suspects }: ClaimRequest, endpoint: string, now: number): ClaimResult {
    const due: Row[] = [];
    let nextDueInMs: number | null = null;
    // One pass over the rows, because a large backlog is claimed in many small portions.
    for (const row of rows.values()) {
      if (row.state !== "ready" || row.endpoint !== endpoint) continue;
      if (row.readySince > now + CLOCK_SLACK_MS) {
        row.dueAt -= row.readySince - now;
        row.readySince = now;
      }
      if (row.dueAt > now) nextDueInMs = Math.min(nextDueInMs ?? Infinity, row.dueAt - now);
      else due.push(row);
    }
    due.sort((a, b) => a.dueAt - b.dueAt || a.seq - b.seq);
    const taken = due.filter((row) => isSuspect(row) === suspects).slice(0, limit);
    for (const row of taken) Object.assign(row, { state: "leased", dueAt: now + leaseMs, token: row.token + 1 });
    const next = due.find(({ state }) => state === "ready");
    return {
      dead: [],
      events: taken.map((row) => ({
        ...row,
        traceParent: row.received.traceParent ?? null,
        body: Uint8Array.from(row.body ?? []),
      })),
      nextDueInMs,
      isSuspectDue: next !== undefined && isSuspect(next),
    };
  }

  function move({ endpoint, eventId }: EventKey, readAgain: ReadAgain): ReplayOutcome {
    const now = clockOf(clocks, endpoint).now();
    const row = byKey.get(keyOf(endpoint, eventId));
    if (row === undefined) return "not_found";
    if (row.state === "ready" || row.state === "leased") return "wrong_state";
    if (row.body === null) return "payload_gone";
    const read = row.state === "quarantined" || row.type === "" ? readAgain(row.body) : row;
    if (read === null) return "still_unusable";
    const { eventId: realId, type, signalType, product } = read;
    if (realId !== eventId) {
      const key = keyOf(endpoint, realId);
      if (byKey.has(key)) {
        Object.assign(row, { state: "done", dueAt: now });
        return "duplicate";
      }
      byKey.delete(keyOf(endpoint, eventId));
      byKey.set(key, row);
    }
    addStep(row, { at: now, kind: "replayed", attempts: row.attempts, error: null });
    Object.assign(row, {
      eventId: realId,
      type,
      signalType,
      product,
      state: "ready",
      dueAt: now,
      readySince: now,
      attempts: 0,
      crashes: 0,
      replayed: true,
      possiblyRepeated: row.possiblyRepeated || row.state === "done",
    });
    return "moved";
  }

  function discard({ endpoint, eventId }: EventKey): MoveOutcome {
    const now = clockOf(clocks, endpoint).now();
    const row = byKey.get(keyOf(endpoint, eventId));
    if (row === undefined) return "not_found";
    if (row.state !== "dead" && row.state !== "quarantined") return "wrong_state";
    Object.assign(row, { state: "done", dueAt: now });
    dropPayload(row);
    return "moved";
  }

  function oldestReadyAgeMs(endpoint: string): number | null {
    const now = clockOf(clocks, endpoint).now();
    let ageMs: number | null = null;
    for (const row of rows.values()) {
      if (row.state === "ready" && row.endpoint === endpoint) ageMs = Math.max(ageMs ?? 0, now - row.dueAt);
    }
    return ageMs;
  }

  return {
    name: "memory",
    durable: false,
    shared: false,
    async open({ endpoint, clock }) {
      if (clocks.has(endpoint)) throw endpointInUseError(endpoint, "this memory store");
      clocks.set(endpoint, clock);
    },
    async close(endpoint) {
      clocks.delete(endpoint);
    },
    async commit({ endpoint, settlements, accepts, claim: request }) {
      const now = clockOf(clocks, endpoint).now();
      return {
        settlements: settlements.map((settlement) => settle(settlement, now)),
        accepts: accepts.map((event) => accept(event, endpoint, now)),
        claim: request === null ? null : claim(request, endpoint, now),
      };
    },
    async takeOver({ endpoint, held, crashed }) {
      const now = clockOf(clocks, endpoint).now();
      const orphans = [...rows.values()].filter(
        (row) => row.endpoint === endpoint && row.state === "leased" && !held.includes(row.seq),
      );
      for (const row of orphans) {
        const crashes = row.crashes + (crashed ? 1 : 0);
        const isDead = crashes >= MAX_CRASHES;
        if (crashed) addStep(row, { at: now, kind: "crashed", attempts: row.attempts, error: null });
        Object.assign(row, {
          state: isDead ? "dead" : "ready",
          dueAt: now,
          readySince: now,
          token: row.token + 1,
          crashes,
          possiblyRepeated: row.possiblyRepeated || crashed,
          lastError: isDead ? CRASH_LOOP : row.lastError,
        });
      }
      const dead = orphans.filter(({ state }) => state === "dead");
      return {
        freed: orphans.length,
        dead: dead.map(({ seq, eventId, type, attempts }) => ({ seq, eventId, type, attempts })),
      };
    },
    async list({ endpoint, state, type, afterSeq = 0, limit = 100 }) {
      assertOpen();
      return [...rows.values()]
        .filter((row) => row.seq > afterSeq && (endpoint === undefined || row.endpoint === endpoint))
        .filter((row) => (state === undefined || row.state === state) && (type === undefined || row.type === type))
        .slice(0, limit)
        .map(entryOf);
    },
    async search(endpoint, { beforeSeq = Infinity, limit = 50, ...wanted }) {
      assertOpen();
      const found = [...rows.values()].filter(
        (row) => row.endpoint === endpoint && row.seq < beforeSeq && matches(row, wanted),
      );
      const entries = found.toReversed().slice(0, limit).map(entryOf);
      return { entries, nextBeforeSeq: found.length > limit ? (entries.at(-1)?.seq ?? null) : null };
    },
    async activity(endpoint, { minutes, spans }) {
      const now = clockOf(clocks, endpoint).now();
      const spanMs = minutes * MINUTE_MS;
      const first = now - (now % spanMs) - (spans - 1) * spanMs;
      const found = new Map<number, Activity>();
      for (const [key, counts] of activity) {
        if (counts.at < first || counts.at > now || key !== keyOf(endpoint, String(counts.at))) continue;
        const at = counts.at - (counts.at % spanMs);
        const sum = found.get(at) ?? { at, accepted: 0, handedOff: 0, failed: 0 };
        for (const name of ["accepted", "handedOff", "failed"] as const) sum[name] += counts[name];
        found.set(at, sum);
      }
      return [...found.values()].toSorted((a, b) => a.at - b.at);
    },
    async get(endpoint, eventId) {
      assertOpen();
      const row = byKey.get(keyOf(endpoint, eventId));
      if (row === undefined) return undefined;
      const rawBody = row.body === null ? null : Uint8Array.from(row.body);
      return { ...entryOf(row), received: row.received, bodyHash: row.bodyHash, rawBody, history: [...row.history] };
    },
    async stats(endpoint) {
      const counts: StateCounts = { ready: 0, leased: 0, done: 0, dead: 0, quarantined: 0 };
      const mine = [...rows.values()].filter((row) => row.endpoint === endpoint);
      for (const { state } of mine) counts[state] += 1;
      return { ...counts, total: mine.length, oldestReadyAgeMs: oldestReadyAgeMs(endpoint) };
    },
    oldestReadyAgeMs,
    async replay(events, readAgain) {
      assertOpen();
      return events.map((event) => move(event, readAgain));
    },
    async discard(events) {
      assertOpen();
      return events.map(discard);
    },
    async prune({ endpoint, payloadsOlderThanMs, keysOlderThanMs, limit }) {
      const now = clockOf(clocks, endpoint).now();
      const done = [...rows.values()].filter((row) => row.state === "done" && row.endpoint === endpoint);
      const payloads = done.filter((row) => row.body !== null && now - row.dueAt > payloadsOlderThanMs).slice(0, limit);
      payloads.forEach(dropPayload);
      const keys = done.filter((row) => row.body === null && now - row.dueAt > keysOlderThanMs).slice(0, limit);
      for (const [key, { at }] of activity) {
        if (key === keyOf(endpoint, String(at)) && now - at > ACTIVITY_KEPT_MS) activity.delete(key);
      }
      for (const row of keys) {
        rows.delete(row.seq);
        byKey.delete(keyOf(row.endpoint, row.eventId));
      }
      return { payloads: payloads.length, keys: keys.length };
    },
  };
}

function isSuspect({ crashes }: Row): boolean {
  return crashes >= SUSPECT_CRASHES;
}

function dropPayload(row: Row): void {
  row.received = withoutPayload(row.receivedAt);
  row.body = null;
  row.history = [];
}

function addStep(row: Row, step: PastStep): void {
  row.history = [...row.history, step].slice(-MOST_PAST_STEPS);
}

function matches(row: Row, { state, type, signalType, product, eventId = "", receivedBefore = Infinity }: SearchQuery) {
  return (
    (state === undefined || row.state === state) &&
    (type === undefined || row.type === type) &&
    (signalType === undefined || row.signalType === signalType) &&
    (product === undefined || row.product === product) &&
    row.eventId.startsWith(eventId) &&
    row.receivedAt < receivedBefore
  );
}

function entryOf(row: Row): InboxEntry {
  const {
    token: _token,
    readySince: _since,
    received: _received,
    bodyHash: _hash,
    body: _body,
    history: _history,
    ...entry
  } = row;
  return entry;
}

function keyOf(endpoint: string, eventId: string): string {
  return JSON.stringify([endpoint, eventId]);
}
