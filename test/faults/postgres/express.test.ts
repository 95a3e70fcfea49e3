import { Pool } from "pg";
import { expect } from "vitest";
import { POSTGRES_URL } from "../../contract/postgres-medium.js";
import { postgresStore } from "../../../src/stores/postgres/postgres-store.js";
import { signalEvent } from "../../../src/testing/index.js";
import { deliver, nextEvent, serve } from "../../http/serve.js";
import { eventually } from "../eventually.js";
import { newSchema, testOnPostgres } from "./open-stores.js";

testOnPostgres(
  "a receiver over Express accepts, hands off, knows duplicates, and finds its events after a restart",
  async () => {
    const { schema } = newSchema();
    const handedOff: string[] = [];
    let isDown = false;
    const options = () => ({
      store: postgresStore({ connectionString: POSTGRES_URL, schema }),
      handoff: { backoff: () => 1 },
      onSignal: ({ id }: { id: string }) => {
        if (isDown) throw new Error("the queue is down");
        handedOff.push(id);
      },
    });
    const first = await serve(options());
    const [event, waiting] = [signalEvent(), signalEvent()];
    const ended = nextEvent(first.receiver, "handedOff");
    expect(await deliver(first.port, event)).toMatchObject({ status: 200, body: `{"received":true}` });
    await ended;
    expect(await deliver(first.port, event)).toMatchObject({ status: 200, body: `{"received":true,"duplicate":true}` });
    isDown = true;
    const failed = nextEvent(first.receiver, "handoffFailed");
    expect(await deliver(first.port, waiting)).toMatchObject({ status: 200 });
    await failed;
    await first.receiver.close({ graceMs: 0 });
    expect(await deliver(first.port, signalEvent())).toMatchObject({ status: 503 });
    isDown = false;

    const second = await serve(options());
    expect(await deliver(second.port, event)).toMatchObject({ body: `{"received":true,"duplicate":true}` });
    await eventually("the hand-off of the waiting event", () => handedOff.includes(waiting.id));
    await eventually("its settlement", async () => (await second.receiver.inbox.stats()).done === 2);
    expect(handedOff).toEqual([event.id, waiting.id]);
    expect(second.receiver.health()).toMatchObject({
      ok: true,
      store: { name: "postgres", durable: true, shared: true },
      oldestReadyAgeMs: expect.any(Number),
      medium: { durability: "primary", synchronousCommit: "on", synchronousStandbys: 0, inRecovery: false },
    });
    await second.receiver.close();
  },
);

testOnPostgres(
  "while the database refuses, deliveries are answered 503, and afterwards they are accepted",
  async () => {
    const { schema, name, admin } = newSchema();
    const pool = new Pool({ connectionString: POSTGRES_URL, max: 3 });
    const { receiver, port } = await serve({ store: postgresStore({ pool, schema }) });
    await admin.query(`ALTER TABLE ${name}.inbox RENAME TO gone`);
    const event = signalEvent();
    expect(await deliver(port, event)).toMatchObject({ status: 503 });
    expect(receiver.health()).toMatchObject({ ok: false, store: { failure: "store_failed" } });
    await admin.query(`ALTER TABLE ${name}.gone RENAME TO inbox`);
    expect(await deliver(port, event)).toMatchObject({ status: 200, body: `{"received":true}` });
    await eventually("the hand-off", async () => (await receiver.inbox.stats()).done === 1);
    await receiver.close();
    await pool.end();
  },
);
