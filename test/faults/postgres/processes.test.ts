import { expect, vi } from "vitest";
import { POSTGRES_URL } from "../../contract/postgres-medium.js";
import {
  areHandedOff,
  hasBegun,
  idsOf,
  isReady,
  startChild,
  startReceiver,
  type Child,
} from "../child-process.js";
import { eventually } from "../eventually.js";
import { inboxFiles, readLog } from "../inbox-file.js";
import { eventThat, isAcknowledged, send } from "../sender.js";
import { shortenCrashDelays, takeForDead, testOnDatabase, type Database } from "./open-stores.js";

// Processes of their own, on a machine that may be busy. A dead one is known after some seconds.
vi.setConfig({ testTimeout: 180_000 });

const configOf = ({ schema }: Database) => ({
  ...inboxFiles(),
  postgres: { connectionString: POSTGRES_URL, schema },
});

const rowsIn = ({ sql }: Database) =>
  sql("SELECT event_id AS id, state, attempts, crashes FROM inbox ORDER BY seq");

testOnDatabase(
  "processes that start at once share one inbox: one id sent to all is one row and one hand-off",
  async (database) => {
    const config = configOf(database);
    const children = [0, 1, 2, 3].map(() => startChild(config));
    await Promise.all(children.map((child) => child.until("the receiver to start", isReady)));
    const events = Array.from({ length: 50 }, () => eventThat("fine"));
    const answers = await Promise.all(
      events.flatMap((event) => children.map(({ port }) => send(port, event))),
    );
    expect(answers.every(isAcknowledged)).toBe(true);
    expect(answers.filter(({ body }) => !body.includes("duplicate")).length).toBe(events.length);
    const ids = events.map(({ id }) => id).sort();
    await eventually("the hand-off of all", () => {
      return children.flatMap(({ lines }) => idsOf(lines, "handedOff")).length === ids.length;
    });
    for (const child of children) child.kill("SIGTERM");
    for (const child of children) expect(await child.exited).toBe(0);
    expect(
      readLog(config.log)
        .map(({ id }) => id)
        .sort(),
    ).toEqual(ids);
    expect(await rowsIn(database)).toHaveLength(ids.length);
  },
);

testOnDatabase(
  "the leases of a killed process are taken over, and those of a living one are not",
  async (database) => {
    const config = configOf(database);
    const killed = await startReceiver(config);
    // By the clock of this one all leases have run out long ago.
    const ahead = await startReceiver({ ...config, clockAheadMs: 3_600_000 });
    const living = await startReceiver(config);
    const [lost, held] = [eventThat("waits"), eventThat("waits")];
    expect(isAcknowledged(await send(killed.port, lost))).toBe(true);
    expect(isAcknowledged(await send(living.port, held))).toBe(true);
    await hasBegun(killed, lost.id);
    await hasBegun(living, held.id);
    killed.kill("SIGKILL");
    await Promise.race([hasBegun(ahead, lost.id), hasBegun(living, lost.id)]);
    for (const child of [ahead, living]) child.kill("SIGUSR2");
    await Promise.race(
      [ahead, living].map((child) => child.until("the hand-off", areHandedOff([lost.id]))),
    );
    await living.until("the hand-off", areHandedOff([held.id]));
    expect(await rowsIn(database)).toEqual([
      { id: lost.id, state: "done", attempts: 1, crashes: 1 },
      { id: held.id, state: "done", attempts: 1, crashes: 0 },
    ]);
    expect(readLog(config.log).filter(({ id }) => id === lost.id)).toMatchObject([
      { possiblyRepeated: false },
      { possiblyRepeated: true },
    ]);
  },
);

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
