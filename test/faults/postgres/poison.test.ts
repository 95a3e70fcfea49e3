import { expect, vi } from "vitest";
import { POSTGRES_URL } from "../../contract/postgres-medium.js";
import { startChild, startReceiver, type Child, type ChildConfig } from "../child-process.js";
import { eventually } from "../eventually.js";
import { inboxFiles } from "../inbox-file.js";
import { eventThat, isAcknowledged, send } from "../sender.js";
import { newSchema, shortenCrashDelays, takeForDead, testOnPostgres } from "./open-stores.js";

// Processes of their own, on a machine that may be busy.
vi.setConfig({ testTimeout: 180_000 });

const EVENTS = 64;

testOnPostgres(
  "one event that kills each process it comes to ends dead, and all others are done",
  async () => {
    const { schema, name, admin } = newSchema();
    const config: ChildConfig = {
      ...inboxFiles(),
      postgres: { connectionString: POSTGRES_URL, schema },
    };
    const first = await startReceiver(config);
    const poison = eventThat("exits");
    // Each crash waits for the poison. The others are less likely to be beside it with longer
    // delays.
    await shortenCrashDelays(
      admin,
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
        takeForDead(admin, name, poison.id).catch(() => undefined);
      });
    }
    keepAlive(first);
    keepAlive(startChild(config));

    await eventually(
      "the end of all",
      async () => {
        const query = `SELECT count(*) FILTER (WHERE state IN ('done', 'dead'))::int AS ended, pg_sleep(0.1) FROM ${name}.inbox`;
        return (await admin.query<{ ended: number }>(query)).rows[0]?.ended === EVENTS;
      },
      150_000,
    );
    isOver = true;
    for (const child of children) child.kill("SIGKILL");
    const { rows } = await admin.query(
      `SELECT event_id AS id, last_error AS error FROM ${name}.inbox WHERE state <> 'done'`,
    );
    expect(rows).toEqual([{ id: poison.id, error: "crash_loop" }]);
    expect(crashes).toBe(5);
  },
);
