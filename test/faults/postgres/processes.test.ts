import type { Pool } from "pg";
import { expect, vi } from "vitest";
import { POSTGRES_URL } from "../../contract/postgres-medium.js";
import {
  areHandedOff,
  hasBegun,
  idsOf,
  isReady,
  startChild,
  startReceiver,
  type ChildConfig,
} from "../child-process.js";
import { eventually } from "../eventually.js";
import { inboxFiles, readLog } from "../inbox-file.js";
import { eventThat, isAcknowledged, send } from "../sender.js";
import { newSchema, takeForDead, testOnPostgres } from "./open-stores.js";

// A dead process is known after some seconds.
vi.setConfig({ testTimeout: 90_000 });

function newInbox(): {
  config: ChildConfig;
  rows: () => Promise<unknown[]>;
  takeForDead: (id: string) => Promise<void>;
} {
  const { schema, name, admin } = newSchema();
  const config = { ...inboxFiles(), postgres: { connectionString: POSTGRES_URL, schema } };
  return {
    config,
    rows: () => readRows(admin, name),
    takeForDead: (id) => takeForDead(admin, name, id),
  };
}

async function readRows(admin: Pool, name: string): Promise<unknown[]> {
  const query = `SELECT event_id AS id, state, attempts, crashes FROM ${name}.inbox ORDER BY seq`;
  return (await admin.query(query)).rows;
}

testOnPostgres(
  "processes that start at once share one inbox: one id sent to all is one row and one hand-off",
  async () => {
    const { config, rows } = newInbox();
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
    expect(await rows()).toHaveLength(ids.length);
  },
);

testOnPostgres(
  "the leases of a killed process are taken over, and those of a living one are not",
  async () => {
    const { config, rows } = newInbox();
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
    expect(await rows()).toEqual([
      { id: lost.id, state: "done", attempts: 1, crashes: 1 },
      { id: held.id, state: "done", attempts: 1, crashes: 0 },
    ]);
    expect(readLog(config.log).filter(({ id }) => id === lost.id)).toMatchObject([
      { possiblyRepeated: false },
      { possiblyRepeated: true },
    ]);
  },
);

testOnPostgres(
  "a process that was stopped for too long ends nothing that another took over, and goes on",
  async () => {
    const { config, rows, takeForDead: take } = newInbox();
    const stopped = await startReceiver(config);
    const other = await startReceiver(config);
    const event = eventThat("waits");
    expect(isAcknowledged(await send(stopped.port, event))).toBe(true);
    await hasBegun(stopped, event.id);
    stopped.kill("SIGSTOP");
    await take(event.id);
    await hasBegun(other, event.id);
    stopped.kill("SIGUSR2");
    stopped.kill("SIGCONT");
    await stopped.until("the lost lease", (lines) => idsOf(lines, "leaseLost").includes(event.id));
    expect(await rows()).toEqual([{ id: event.id, state: "leased", attempts: 0, crashes: 1 }]);
    other.kill("SIGUSR2");
    await other.until("the hand-off", areHandedOff([event.id]));
    // Its owner is gone, so it registers again.
    const next = eventThat("fine");
    expect(await send(stopped.port, next)).toEqual({ status: 200, body: `{"received":true}` });
    await stopped.until("its hand-off", areHandedOff([next.id]));
    expect(await rows()).toMatchObject([
      { state: "done", crashes: 1 },
      { state: "done", crashes: 0 },
    ]);
  },
);
