import {
  CLOCK_SLACK_MS,
  CRASH_LOOP,
  MAX_CRASHES,
  SUSPECT_CRASHES,
  closedStoreError,
  endpointInUseError,
  withoutPayload,
  type AcceptResult,
  type ClaimRequest,
  type ClaimResult,
  type EventKey,
  type InboxEntry,
  type InboxStore,
  type MoveOutcome,
  type NewEvent,
  type ReadAgain,
  type ReceivedDelivery,
  type ReplayOutcome,
  type Settlement,
  type StateCounts,
} from "../inbox/store.js";

interface Row extends InboxEntry {
  token: number;
  readySince: number;
  received: ReceivedDelivery;
  bodyHash: Uint8Array;
  body: Uint8Array | null;
}

/**
 * An inbox in memory, for tests and trials. Its events are lost when the process ends, but not at `close`: a receiver that is
 * started again with the same store object finds them.
 */
export function memoryStore(): InboxStore {
  const rows = new Map<number, Row>();
  const byKey = new Map<string, Row>();
  const openEndpoints = new Set<string>();
  let lastSeq = 0;

  function assertOpen(): void {
    if (openEndpoints.size === 0) throw closedStoreError();
  }

  function settle(settlement: Settlement): boolean {
    const row = rows.get(settlement.seq);
    if (row === undefined || row.state !== "leased" || row.token !== settlement.token) return false;
    const { state, dueAt, settledAt: readySince, attempts, possiblyRepeated, lastError } = settlement;
    Object.assign(row, { state, dueAt, readySince, attempts, possiblyRepeated, lastError: lastError ?? row.lastError });
    return true;
  }

  function accept(event: NewEvent): AcceptResult {
    const key = keyOf(event.endpoint, event.eventId);
    const original = byKey.get(key);
    if (original !== undefined) {
      const sameBody = Buffer.compare(original.bodyHash, event.bodyHash) === 0;
      return { status: "duplicate", seq: original.seq, sameBody };
    }
    const { endpoint, eventId, type, state, dueAt, received, reason } = event;
    lastSeq += 1;
    const row: Row = {
      seq: lastSeq,
      endpoint,
      eventId,
      type,
      state,
      dueAt,
      readySince: received.at,
      receivedAt: received.at,
      received,
      lastError: reason,
      token: state === "leased" ? 1 : 0,
      attempts: 0,
      crashes: 0,
      possiblyRepeated: false,
      replayed: false,
      // Copies, because the caller may use its buffers again.
      bodyHash: Uint8Array.from(event.bodyHash),
      body: Uint8Array.from(event.body),
    };
    rows.set(row.seq, row);
    byKey.set(key, row);
    return { status: "accepted", seq: row.seq };
  }

  function claim({ endpoint, now, leaseUntil, limit, suspects }: ClaimRequest): ClaimResult {
    const due: Row[] = [];
    let nextDueAt: number | null = null;
    // One pass over the rows, because a large backlog is claimed in many small portions.
    for (const row of rows.values()) {
      if (row.state !== "ready" || row.endpoint !== endpoint) continue;
      if (row.readySince > now + CLOCK_SLACK_MS) {
        row.dueAt -= row.readySince - now;
        row.readySince = now;
      }
      if (row.dueAt > now) nextDueAt = Math.min(nextDueAt ?? Infinity, row.dueAt);
      else due.push(row);
    }
    due.sort((a, b) => a.dueAt - b.dueAt || a.seq - b.seq);
    const taken = due.filter((row) => isSuspect(row) === suspects).slice(0, limit);
    for (const row of taken) Object.assign(row, { state: "leased", dueAt: leaseUntil, token: row.token + 1 });
    const next = due.find(({ state }) => state === "ready");
    return {
      dead: [],
      events: taken.map((row) => ({ ...row, body: Uint8Array.from(row.body ?? []) })),
      nextDueAt,
      isSuspectDue: next !== undefined && isSuspect(next),
    };
  }

  function move({ endpoint, eventId }: EventKey, now: number, readAgain: ReadAgain): ReplayOutcome {
    const row = byKey.get(keyOf(endpoint, eventId));
    if (row === undefined) return "not_found";
    if (row.state === "ready" || row.state === "leased") return "wrong_state";
    if (row.body === null) return "payload_gone";
    const read = row.state === "quarantined" || row.type === "" ? readAgain(row.body) : row;
    if (read === null) return "still_unusable";
    const { eventId: realId, type } = read;
    if (realId !== eventId) {
      const key = keyOf(endpoint, realId);
      if (byKey.has(key)) {
        Object.assign(row, { state: "done", dueAt: now });
        return "duplicate";
      }
      byKey.delete(keyOf(endpoint, eventId));
      byKey.set(key, row);
    }
    Object.assign(row, {
      eventId: realId,
      type,
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

  function discard(endpoint: string, eventId: string, now: number): MoveOutcome {
    const row = byKey.get(keyOf(endpoint, eventId));
    if (row === undefined) return "not_found";
    if (row.state !== "dead" && row.state !== "quarantined") return "wrong_state";
    Object.assign(row, { state: "done", dueAt: now });
    dropPayload(row);
    return "moved";
  }

  function oldestReadyAt(endpoint: string): number | null {
    let oldest: number | null = null;
    for (const row of rows.values()) {
      if (row.state === "ready" && row.endpoint === endpoint) oldest = Math.min(oldest ?? Infinity, row.dueAt);
    }
    return oldest;
  }

  return {
    name: "memory",
    durable: false,
    shared: false,
    async open({ endpoint }) {
      if (openEndpoints.has(endpoint)) throw endpointInUseError(endpoint, "this memory store");
      openEndpoints.add(endpoint);
    },
    async close(endpoint) {
      openEndpoints.delete(endpoint);
    },
    async commit(batch) {
      assertOpen();
      return {
        settlements: batch.settlements.map(settle),
        accepts: batch.accepts.map(accept),
        claim: batch.claim === null ? null : claim(batch.claim),
      };
    },
    async takeOver({ endpoint, now, held, crashed }) {
      assertOpen();
      const orphans = [...rows.values()].filter(
        (row) => row.endpoint === endpoint && row.state === "leased" && !held.has(row.seq),
      );
      for (const row of orphans) {
        const crashes = row.crashes + (crashed ? 1 : 0);
        const isDead = crashes >= MAX_CRASHES;
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
    async get(endpoint, eventId) {
      assertOpen();
      const row = byKey.get(keyOf(endpoint, eventId));
      if (row === undefined) return undefined;
      const rawBody = row.body === null ? null : Uint8Array.from(row.body);
      return { ...entryOf(row), received: row.received, bodyHash: row.bodyHash, rawBody };
    },
    async stats(endpoint) {
      assertOpen();
      const counts: StateCounts = { ready: 0, leased: 0, done: 0, dead: 0, quarantined: 0 };
      const mine = [...rows.values()].filter((row) => row.endpoint === endpoint);
      for (const { state } of mine) counts[state] += 1;
      return { ...counts, total: mine.length, oldestReadyAt: oldestReadyAt(endpoint) };
    },
    oldestReadyAt(endpoint) {
      assertOpen();
      return oldestReadyAt(endpoint);
    },
    async replay(events, now, readAgain) {
      assertOpen();
      return events.map((event) => move(event, now, readAgain));
    },
    async discard(events, now) {
      assertOpen();
      return events.map(({ endpoint, eventId }) => discard(endpoint, eventId, now));
    },
    async prune({ endpoint, payloadsBefore, keysBefore, limit }) {
      assertOpen();
      const done = [...rows.values()].filter((row) => row.state === "done" && row.endpoint === endpoint);
      const payloads = done.filter((row) => row.body !== null && row.dueAt < payloadsBefore).slice(0, limit);
      payloads.forEach(dropPayload);
      const keys = done.filter((row) => row.body === null && row.dueAt < keysBefore).slice(0, limit);
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
}

function entryOf(row: Row): InboxEntry {
  const { token: _token, readySince: _since, received: _received, bodyHash: _hash, body: _body, ...entry } = row;
  return entry;
}

function keyOf(endpoint: string, eventId: string): string {
  return JSON.stringify([endpoint, eventId]);
}
