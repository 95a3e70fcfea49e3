// A process with one contender, which takes events through their life in PostgreSQL when it is asked
// to: stored, handed off, settled. The hand-off itself is nothing. Each is used as its documentation
// advises for throughput, and has as many events on their way as the others.
import { createHash } from "node:crypto";
import { Logger, makeWorkerUtils, run } from "graphile-worker";
import { Pool } from "pg";
import PgBoss from "pg-boss";
import type { InboxStore } from "signalbox";
import { postgresStore } from "signalbox/stores/postgres";
import { createManualClock } from "signalbox/testing";
import { ENDPOINT, POOL_SIZE } from "../endpoint.js";
import { makeEvent } from "../load/events.js";
import { answerQuestions } from "../processes/questions.js";

interface Contender {
  /** Handles events until the time is over. @param from the number of the first one @returns how many */
  handle(from: number, ms: number): Promise<number>;
  close(): Promise<void>;
  /** How long each commit took since the last look. */
  commitMs?: number[];
}

/** As many as a sender with this number of connections has on their way. */
const IN_FLIGHT = 64;

const CONTENDERS = {
  signalbox: openSignalbox,
  naive: openNaive,
  "pg-boss": openPgBoss,
  "graphile-worker": openGraphileWorker,
} as const satisfies Record<string, (url: string) => Promise<Contender>>;

export interface ContenderSpec {
  name: keyof typeof CONTENDERS;
  url: string;
}

/** What was handled in a slice of time. */
export interface Handled {
  events: number;
  cpuMs: number;
  elapsedMs: number;
  /** Of each commit; empty for contenders without. */
  commitMs: number[];
}

const idOf = (n: number): string => `signal_${String(n).padStart(10, "0")}`;

/** Made beforehand: the work of the sender and of the receiver's pipeline is not measured here. */
const EVENTS = Array.from({ length: 1000 }, (_, n) => {
  const event = makeEvent(n);
  const body = Buffer.from(JSON.stringify(event));
  return { event, body, hash: createHash("sha256").update(body).digest() };
});
const contentOf = (n: number): (typeof EVENTS)[number] =>
  EVENTS[n % EVENTS.length] as (typeof EVENTS)[number];
const numbers = (from: number, count = IN_FLIGHT): number[] =>
  Array.from({ length: count }, (_, index) => from + index);

type Batch = Parameters<InboxStore["commit"]>[0];

const DONE = {
  state: "done",
  delayMs: 0,
  attempts: 1,
  possiblyRepeated: false,
  lastError: null,
  receivedAt: 0,
} as const;

/**
 * The commits that the batcher makes under load: new events, and the settlements of those of the
 * last commit.
 */
async function openSignalbox(url: string): Promise<Contender> {
  const store = postgresStore({ connectionString: url });
  await store.open({ endpoint: ENDPOINT, clock: createManualClock(0) });
  const commitMs: number[] = [];
  let claimAt = 0;
  return {
    commitMs,
    async handle(from, ms) {
      const end = performance.now() + ms;
      let settlements: Batch["settlements"] = [];
      let n = from;
      for (
        let now = performance.now();
        now < end || settlements.length > 0;
        now = performance.now()
      ) {
        const accepts = now < end ? numbers(n).map(toAccept) : [];
        // A dispatcher looks for waiting events now and then.
        const claim = now >= claimAt ? { limit: 16, leaseMs: 60_000, held: [] } : null;
        if (claim !== null) claimAt = now + 500;
        const result = await store.commit({ endpoint: ENDPOINT, accepts, settlements, claim });
        if (accepts.length > 0) commitMs.push(performance.now() - now);
        n += accepts.length;
        settlements = result.accepts.flatMap((each) =>
          each.status === "accepted" ? [{ ...DONE, seq: each.seq, token: each.token }] : [],
        );
      }
      return n - from;
    },
    close: () => store.close(ENDPOINT),
  };
}

function toAccept(n: number): Batch["accepts"][number] {
  const { event, body, hash } = contentOf(n);
  const received = { at: Date.now(), headers: { "content-type": "application/json" } };
  return {
    eventId: idOf(n),
    type: event.type,
    state: "leased",
    leaseMs: 60_000,
    received,
    bodyHash: hash,
    body,
    reason: null,
    subtype: event.data.signal_type ?? null,
    subject: event.data.product?.slug ?? null,
    sender: null,
    contentKey: null,
    possiblyRepeated: false,
  };
}

/** One INSERT and one UPDATE for each event, through a pool. */
async function openNaive(url: string): Promise<Contender> {
  const pool = new Pool({ connectionString: url, max: POOL_SIZE });
  await pool.query(
    "CREATE TABLE events (id text PRIMARY KEY, at timestamptz DEFAULT now(), body bytea, state text)",
  );
  return {
    async handle(from, ms) {
      const end = performance.now() + ms;
      let n = from;
      const handleEach = async (): Promise<void> => {
        while (performance.now() < end) {
          const id = idOf(n);
          const { body } = contentOf(n++);
          const insert =
            "INSERT INTO events (id, body, state) VALUES ($1, $2, 'new') ON CONFLICT DO NOTHING";
          await pool.query(insert, [id, body]);
          await pool.query("UPDATE events SET state = 'done' WHERE id = $1", [id]);
        }
      };
      await Promise.all(Array.from({ length: IN_FLIGHT }, handleEach));
      return n - from;
    },
    close: () => pool.end(),
  };
}

/**
 * `insert`, `fetch` and `complete` of whole batches. `work` would wait between two fetches. It does
 * not look for repeats.
 */
async function openPgBoss(url: string): Promise<Contender> {
  const boss = new PgBoss({ connectionString: url, supervise: false, schedule: false });
  boss.on("error", () => {});
  await boss.start();
  await boss.createQueue("signals");
  return {
    async handle(from, ms) {
      const end = performance.now() + ms;
      let n = from;
      let handled = 0;
      while (performance.now() < end) {
        await boss.insert(
          numbers(n).map((each) => ({ name: "signals", data: contentOf(each).event })),
        );
        n += IN_FLIGHT;
        const jobs = await boss.fetch("signals", { batchSize: IN_FLIGHT, priority: false });
        const ids = jobs.map(({ id }) => id);
        if (ids.length > 0) await boss.complete("signals", ids);
        handled += ids.length;
      }
      return handled;
    },
    close: () => boss.stop({ graceful: false }),
  };
}

/**
 * `addJobs` of whole batches, and a worker as on its page about performance. It does not look for
 * repeats.
 */
async function openGraphileWorker(url: string): Promise<Contender> {
  const logger = new Logger(() => () => {});
  const utils = await makeWorkerUtils({ connectionString: url, logger });
  await utils.migrate();
  let handled = 0;
  let onHandled = (): void => {};
  const handleJob = (): void => {
    handled += 1;
    onHandled();
  };
  const until = (count: number): Promise<void> =>
    new Promise((resolve) => {
      onHandled = () => (handled >= count ? resolve() : undefined);
      onHandled();
    });
  const batches = { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 };
  const worker = { connectionString: url, concurrentJobs: 24, maxPoolSize: 25, logger, ...batches };
  const runner = await run({ preset: { worker }, taskList: { signals: handleJob } });
  return {
    async handle(from, ms) {
      const end = performance.now() + ms;
      const before = handled;
      let n = from;
      while (performance.now() < end) {
        await utils.addJobs(
          numbers(n).map((each) => ({ identifier: "signals", payload: contentOf(each).event })),
        );
        n += IN_FLIGHT;
        await until(before + n - from);
      }
      return handled - before;
    },
    async close() {
      await runner.stop();
      await utils.release();
    },
  };
}

const { name, url } = JSON.parse(process.argv[2] ?? "{}") as ContenderSpec;
const opening = CONTENDERS[name](url);

answerQuestions({
  async handle({ from, ms }: { from: number; ms: number }): Promise<Handled> {
    const contender = await opening;
    const cpuBefore = process.cpuUsage();
    const startedAt = performance.now();
    const events = await contender.handle(from, ms);
    const elapsedMs = performance.now() - startedAt;
    const { user, system } = process.cpuUsage(cpuBefore);
    const commitMs = contender.commitMs?.splice(0) ?? [];
    return { events, cpuMs: (user + system) / 1000, elapsedMs, commitMs };
  },
  close: async () => (await opening).close(),
});
