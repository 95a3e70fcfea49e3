import type { Pool } from "pg";
import { POSTGRES_URL } from "../../contract/postgres-medium.js";
import { startReceiver, type Child, type ChildConfig } from "../child-process.js";
import { eventually } from "../eventually.js";
import { inboxFiles } from "../inbox-file.js";
import { seededRandom, SEED } from "../seeded-random.js";
import { eventThat, isAcknowledged, send } from "../sender.js";
import { newSchema, shortenCrashDelays } from "./open-stores.js";

export interface Storm {
  order: "in" | "after";
  receivers: number;
  events: number;
  /** Processes that are killed, or stopped until another has taken them for dead, one after another. */
  processFaults: number;
}

export interface Outcome {
  done: number;
  /** Rows, and signals that have one. */
  effects: number;
  signals: number;
  /** Of leases. */
  takeOvers: number;
}

/** Handed to one callback at a time, so that few leases are lost with a process: five crashes would make an event dead. */
const SENT_AT_ONCE = 24;

/** Sends events to receivers whose callbacks have an effect in the database, while connections and processes fail. */
export async function effectStorm({ order, receivers, events, processFaults }: Storm): Promise<Outcome> {
  const { schema, name, admin } = newSchema();
  const random = seededRandom(SEED);
  const config: ChildConfig = {
    ...inboxFiles(),
    postgres: { connectionString: POSTGRES_URL, schema },
    effects: { order, faults: 0.3 },
    handoff: { concurrency: 8, maxAttempts: 1000 },
  };
  const children: (Child | null)[] = [await startReceiver(config)];
  await shortenCrashDelays(admin, name, 200);
  await admin.query(`CREATE TABLE ${name}.effect (event_id text NOT NULL)`);
  while (children.length < receivers) children.push(await startReceiver(config));

  let unsent = events;
  async function sendOneAfterAnother(): Promise<void> {
    while (unsent > 0) {
      unsent -= 1;
      const event = eventThat("effect");
      for (let answer = null; answer === null || !isAcknowledged(answer);) {
        const { port = 0 } = children[Math.floor(random() * children.length)] ?? {};
        answer = await send(port, event).catch(() => null);
      }
    }
  }
  const sending = Promise.all(Array.from({ length: SENT_AT_ONCE }, sendOneAfterAnother));
  for (let fault = 1; fault <= processFaults; fault += 1) {
    await eventually("the next fault", () => unsent <= events * (1 - fault / (processFaults + 1)));
    const at = Math.floor(random() * children.length);
    const child = children[at] as Child;
    children[at] = null;
    if (random() < 0.5) {
      child.kill("SIGKILL");
      children[at] = await startReceiver(config);
    } else {
      child.kill("SIGSTOP");
      // Others take it for dead after 5 seconds, and take over within one more.
      await admin.query("SELECT pg_sleep(7)");
      child.kill("SIGCONT");
      children[at] = child;
    }
  }
  await sending;
  await eventually("the end of all", () => areDone(admin, name, events), 10 * 60_000);
  // A callback that was taken over may still run.
  await eventually("the end of all transactions", () => areIdle(admin, schema));
  const { rows } =
    await admin.query<Outcome>(`SELECT count(*)::int AS effects, count(DISTINCT event_id)::int AS signals,
    (SELECT count(*)::int FROM ${name}.inbox WHERE state = 'done') AS done,
    (SELECT sum(crashes)::int FROM ${name}.inbox) AS "takeOvers" FROM ${name}.effect`);
  return rows[0] as Outcome;
}

/** An event that five take-overs made dead is replayed, as a person would do. */
async function areDone(admin: Pool, name: string, events: number): Promise<boolean> {
  const { rows } = await admin.query<{ isDone: boolean }>(
    `SELECT count(*) FILTER (WHERE state = 'done') = ${events} AS "isDone", pg_sleep(0.1),
       ${name}.replay(array_agg(endpoint) FILTER (WHERE state = 'dead'), array_agg(event_id) FILTER (WHERE state = 'dead'),
         array_agg(event_id) FILTER (WHERE state = 'dead'), array_agg(type) FILTER (WHERE state = 'dead'), NULL, NULL)
     FROM ${name}.inbox`,
  );
  return rows[0]?.isDone === true;
}

async function areIdle(admin: Pool, schema: string): Promise<boolean> {
  const query = `SELECT FROM pg_stat_activity WHERE xact_start IS NOT NULL AND strpos(query, $1) > 0 AND pid <> pg_backend_pid()`;
  return (await admin.query(query, [schema.replaceAll('"', '""')])).rows.length === 0;
}
