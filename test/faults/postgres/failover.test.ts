import { Pool } from "pg";
import { expect, onTestFinished, vi } from "vitest";
import type { SignalEvent } from "../../../src/kit/index.js";
import { nodeHandler } from "../../../src/kit/receiver/adapters/node-handler.js";
import { postgresStore } from "../../../src/kit/stores/postgres/postgres-store.js";
import { signalEvent, signedDelivery } from "../../../src/kit/testing/index.js";
import { logLines } from "../../http/log-lines.js";
import { listen, makeReceiver, SECRET } from "../../http/serve.js";
import { makeOwnPostgres, POSTGRES_BINARIES, type OwnPostgres } from "../../own-postgres.js";
import { testWith } from "../../prerequisites.js";
import { eventually } from "../eventually.js";
import { startProxy } from "./tcp-proxy.js";

const testOnServers = testWith(POSTGRES_BINARIES !== undefined);
const SETTINGS = ["fsync=off", "wal_retrieve_retry_interval=100ms", "synchronous_commit=on"];

vi.setConfig({ testTimeout: 180_000 });

async function startCluster({ isSynchronous }: { isSynchronous: boolean }) {
  const primary = await makeOwnPostgres(SETTINGS);
  onTestFinished(() => primary.remove());
  const standby = await makeOwnPostgres(SETTINGS, primary);
  onTestFinished(() => standby.remove());
  if (isSynchronous) {
    await query(primary, "ALTER SYSTEM SET synchronous_standby_names = '*'");
    await query(primary, "SELECT pg_reload_conf()");
  }
  return { primary, standby };
}

/** Runs a statement on a connection of its own. */
async function query<Row extends object>({ port }: OwnPostgres, sql: string): Promise<Row[]> {
  const pool = new Pool({ host: "127.0.0.1", port, user: "postgres", max: 1 });
  pool.on("error", () => {});
  try {
    return (await pool.query<Row>(sql)).rows;
  } finally {
    await pool.end();
  }
}

const promote = (standby: OwnPostgres) => query(standby, "SELECT pg_promote()");

async function idsIn(server: OwnPostgres, where = "true"): Promise<Set<string>> {
  const ids = `SELECT event_id AS id FROM signalbox.inbox WHERE ${where}`;
  return new Set((await query<{ id: string }>(server, ids)).map(({ id }) => id));
}

const waitingEvent = (): SignalEvent => signalEvent({ data: { title: "waits" } });

/**
 * A receiver whose database is behind a proxy. The callback of an event with the title "waits"
 * waits for `release`.
 */
async function serveBehindProxy({ port: target }: OwnPostgres) {
  const proxy = await startProxy(target);
  const begun: { id: string; possiblyRepeated: boolean }[] = [];
  let release!: () => void;
  const released = new Promise<void>((resolve) => (release = resolve));
  const { logger, lines } = logLines();
  const receiver = makeReceiver({
    store: postgresStore({
      connectionString: `postgres://postgres@127.0.0.1:${proxy.port}/postgres`,
    }),
    ackTimeoutMs: 1000,
    handoff: { concurrency: 200 },
    logger,
    onSignal: async ({ id, data }, { possiblyRepeated }) => {
      begun.push({ id, possiblyRepeated });
      if (data.title === "waits") await released;
    },
  });
  await receiver.start();
  const port = await listen(nodeHandler(receiver));
  return {
    receiver,
    proxy,
    begun,
    leasesLost: () =>
      lines
        .filter((line) => line.includes('"msg":"a lease expired'))
        .map((line) => (JSON.parse(line) as { eventId: string }).eventId),
    release,
    /** @returns the status of the answer */
    async deliver(event: SignalEvent): Promise<number> {
      const response = await fetch(`http://127.0.0.1:${port}`, {
        method: "POST",
        ...signedDelivery(event, { secret: SECRET }),
      });
      await response.text();
      return response.status;
    },
  };
}

/** Delivers new events, and each again until it is acknowledged, as the service does. */
function startSender({ deliver }: Awaited<ReturnType<typeof serveBehindProxy>>) {
  const acknowledged = new Set<string>();
  let refused = 0;
  const state = { isEnding: false };
  async function sendOneAfterAnother(): Promise<void> {
    while (!state.isEnding) {
      const event = signalEvent();
      while ((await deliver(event)) !== 200) {
        refused += 1;
        if (state.isEnding) return;
      }
      acknowledged.add(event.id);
    }
  }
  const sending = Promise.all(Array.from({ length: 8 }, sendOneAfterAnother));
  return {
    acknowledged,
    refused: () => refused,
    async end() {
      state.isEnding = true;
      await sending;
    },
  };
}

testOnServers(
  "a failover to a synchronous standby under load loses nothing that was acknowledged",
  async () => {
    const { primary, standby } = await startCluster({ isSynchronous: true });
    const served = await serveBehindProxy(primary);
    await eventually(
      "a synchronous standby in health()",
      () => served.receiver.health().medium?.["synchronousStandbys"] === 1,
    );
    expect(served.receiver.health().medium).toMatchObject({
      durability: "standby",
      synchronousCommit: "on",
      inRecovery: false,
    });

    const { acknowledged, refused, end } = startSender(served);
    await eventually("load", () => acknowledged.size > 200);
    // What is acknowledged from here on cannot be on the standby.
    await standby.stop("SIGINT");
    await eventually("a refusal", () => refused() > 0);
    await eventually(
      "no standby in health()",
      () => served.receiver.health().medium?.["synchronousStandbys"] === 0,
    );
    await primary.stop("SIGQUIT");
    const before = new Set(acknowledged);
    await standby.start();
    await promote(standby);
    served.proxy.switchTo(standby.port);
    await eventually("load after the failover", () => acknowledged.size > before.size + 200);
    await end();

    const kept = await idsIn(standby);
    expect([...acknowledged].filter((id) => !kept.has(id))).toEqual([]);
    await eventually(
      "the hand-off of all",
      async () => (await served.receiver.inbox.stats()).done === kept.size,
    );
    const first = new Set<string>();
    for (const { id, possiblyRepeated } of served.begun) {
      if (first.has(id)) expect(possiblyRepeated, `the repeat of ${id} is flagged`).toBe(true);
      first.add(id);
    }
    expect([...acknowledged].filter((id) => !first.has(id))).toEqual([]);
  },
);

testOnServers(
  "without a synchronous standby a failover loses what the standby did not have, and a lost lease ends no other event",
  async () => {
    const { primary, standby } = await startCluster({ isSynchronous: false });
    const served = await serveBehindProxy(primary);
    expect(served.receiver.health().medium).toMatchObject({
      durability: "primary",
      synchronousStandbys: 0,
    });
    const kept = waitingEvent();
    expect(await served.deliver(kept)).toBe(200);
    // At first it does not even have the tables.
    await eventually("the standby has it", async () =>
      (await idsIn(standby).catch(() => new Set())).has(kept.id),
    );

    // What follows cannot reach the standby.
    await standby.stop("SIGINT");
    const lost = Array.from({ length: 80 }, waitingEvent);
    for (const event of lost) expect(await served.deliver(event)).toBe(200);
    const seqs = `SELECT seq::int FROM signalbox.inbox WHERE event_id <> '${kept.id}'`;
    const lostSeqs = new Set((await query<{ seq: number }>(primary, seqs)).map(({ seq }) => seq));
    await primary.stop("SIGQUIT");
    await standby.start();
    await promote(standby);
    served.proxy.switchTo(standby.port);

    const later = Array.from({ length: 80 }, waitingEvent);
    for (const event of later)
      await eventually("an acknowledgement", async () => (await served.deliver(event)) === 200);
    expect(await idsIn(standby)).toEqual(new Set([kept, ...later].map(({ id }) => id)));
    // Numbers of lost events were given to others, whose leases the process holds too.
    const newSeqs = (await query<{ seq: number }>(standby, seqs)).map(({ seq }) => seq);
    expect(newSeqs.filter((seq) => lostSeqs.has(seq)).length).toBeGreaterThan(20);
    await eventually("all began", () => served.begun.length >= 161);
    served.release();
    await eventually("all are done", async () => (await served.receiver.inbox.stats()).done === 81);
    await eventually("all lost leases", () => served.leasesLost().length === lost.length);
    expect(new Set(served.leasesLost())).toEqual(new Set(lost.map(({ id }) => id)));
  },
);

testOnServers(
  "with two primaries, the receiver of the old one ends nothing that was taken over on the new one",
  async () => {
    const { primary, standby } = await startCluster({ isSynchronous: true });
    const [cutOff, other] = [await serveBehindProxy(primary), await serveBehindProxy(primary)];
    const event = waitingEvent();
    await eventually("an acknowledgement", async () => (await cutOff.deliver(event)) === 200);
    await promote(standby);
    other.proxy.switchTo(standby.port);
    expect(await cutOff.deliver(signalEvent())).toBe(503);
    await eventually("other takes the event over", () => other.begun.length > 0);
    expect(other.begun).toEqual([{ id: event.id, possiblyRepeated: true }]);

    await primary.stop("SIGQUIT");
    cutOff.proxy.switchTo(standby.port);
    cutOff.release();
    await eventually("the lost lease", () => cutOff.leasesLost().includes(event.id));
    expect(await idsIn(standby, "state = 'leased'")).toContain(event.id);
    other.release();
    await eventually("it is done", async () =>
      (await idsIn(standby, "state = 'done'")).has(event.id),
    );
  },
);
