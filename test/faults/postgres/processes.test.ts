import { expect, vi } from "vitest";
import { POSTGRES_URL } from "../../contract/postgres-medium.js";
import {
  areHandedOff,
  hasBegun,
  idsOf,
  startChild,
  startReceiver,
  type Child,
} from "../child-process.js";
import { eventually } from "../eventually.js";
import { inboxFiles } from "../inbox-file.js";
import { eventThat, isAcknowledged, send } from "../sender.js";
import { shortenCrashDelays, takeForDead, testOnDatabase, type Database } from "./open-stores.js";

// What a kill does, and several processes at once: test/contract and test/storm.
// Processes of their own, on a machine that may be busy. A dead one is known after some seconds.
vi.setConfig({ testTimeout: 180_000 });

const configOf = ({ schema }: Database) => ({
  ...inboxFiles(),
  postgres: { connectionString: POSTGRES_URL, schema },
});

const rowsIn = ({ sql }: Database) =>
  sql("SELECT event_id AS id, state, attempts, crashes FROM inbox ORDER BY seq");

testOnDatabase(
  "a process that was stopped for too long ends nothing that another took over, and goes on",
  async (database) => {
    const config = configOf(database);
    const stopped = await startReceiver(config);
    const other = await startReceiver(config);
    const event = eventThat("waits");
    expect(isAcknowledged(await send(stopped.port, event))).toBe(true);
    await hasBegun(stopped, event.id);
    stopped.kill("SIGSTOP");
    await takeForDead(database, event.id);
    await hasBegun(other, event.id);
    stopped.kill("SIGUSR2");
    stopped.kill("SIGCONT");
    await stopped.until("the lost lease", (lines) => idsOf(lines, "leaseLost").includes(event.id));
    expect(await rowsIn(database)).toEqual([
      { id: event.id, state: "leased", attempts: 0, crashes: 1 },
    ]);
    other.kill("SIGUSR2");
    await other.until("the hand-off", areHandedOff([event.id]));
    // Its owner is gone, so it registers again.
    const next = eventThat("fine");
    expect(await send(stopped.port, next)).toEqual({ status: 200, body: `{"received":true}` });
    await stopped.until("its hand-off", areHandedOff([next.id]));
    expect(await rowsIn(database)).toMatchObject([
      { state: "done", crashes: 1 },
      { state: "done", crashes: 0 },
    ]);
  },
);

const EVENTS = 64;

testOnDatabase(
  "one event that kills each process it comes to ends dead, and all others are done",
  async (database) => {
    const { name, sql } = database;
    const config = configOf(database);
    const first = await startReceiver(config);
    const poison = eventThat("exits");
    // Each crash waits for the poison. The others are less likely to be beside it with longer
    // delays.
    await shortenCrashDelays(
      { query: sql },
      name,
      `CASE NEW.event_id WHEN '${poison.id}' THEN 2000 ELSE 200 END`,
    );
    const others = Array.from({ length: EVENTS - 1 }, () => eventThat("slow"));
    for (const answer of await Promise.all(others.map((event) => send(first.port, event)))) {
      expect(isAcknowledged(answer)).toBe(true);
    }
    await send(first.port, poison).catch(() => null);

    const children = new Set<Child>();
    let crashes = 0;
    let isOver = false;
    function keepAlive(child: Child): void {
      children.add(child);
      void child.exited.then((code) => {
        children.delete(child);
        if (isOver) return;
        keepAlive(startChild(config));
        if (code !== 3) return;
        crashes += 1;
        takeForDead(database, poison.id).catch(() => undefined);
      });
    }
    keepAlive(first);
    keepAlive(startChild(config));

    await eventually(
      "the end of all",
      async () => {
        const query =
          "SELECT count(*) FILTER (WHERE state IN ('done', 'dead'))::int AS ended, pg_sleep(0.1) FROM inbox";
        return (await sql<{ ended: number }>(query))[0]?.ended === EVENTS;
      },
      150_000,
    );
    isOver = true;
    for (const child of children) child.kill("SIGKILL");
    const rows = await sql(
      "SELECT event_id AS id, last_error AS error FROM inbox WHERE state <> 'done'",
    );
    expect(rows).toEqual([{ id: poison.id, error: "crash_loop" }]);
    expect(crashes).toBe(5);
  },
);
