import { expect, onTestFinished } from "vitest";
import { postgresStore } from "../../../src/stores/postgres/postgres-store.js";
import { signalEvent } from "../../../src/testing/index.js";
import { POSTGRES_PORT, POSTGRES_URL } from "../../contract/postgres-medium.js";
import { deliver, serve } from "../../http/serve.js";
import { eventually } from "../eventually.js";
import { newSchema, testOnPostgres } from "./open-stores.js";
import { startProxy } from "./tcp-proxy.js";

testOnPostgres(
  "connections that are half open are replaced after their deadline, and nothing acknowledged is lost",
  async () => {
    const { schema, name, admin } = newSchema();
    const proxy = await startProxy(POSTGRES_PORT);
    const url = new URL(POSTGRES_URL);
    url.port = String(proxy.port);
    const { receiver, port } = await serve({
      store: postgresStore({ connectionString: url.href, schema }),
      ackTimeoutMs: 500,
    });
    onTestFinished(() => receiver.close({ graceMs: 0 }));
    const [first, second] = [signalEvent(), signalEvent()];
    expect(await deliver(port, first)).toMatchObject({ status: 200 });

    proxy.freeze();
    expect(await deliver(port, second)).toMatchObject({ status: 503 });
    // Its commit fails after 10 seconds.
    await eventually("the failure in health()", () => receiver.health().store.failure === "store_failed");
    proxy.switchTo(POSTGRES_PORT);

    await eventually("an acknowledgement", async () => (await deliver(port, second)).status === 200);
    const { rows } = await admin.query<{ id: string }>(`SELECT event_id AS id FROM ${name}.inbox ORDER BY seq`);
    expect(rows.map(({ id }) => id)).toEqual([first.id, second.id]);
    await eventually("the hand-offs", async () => (await receiver.inbox.stats()).done === 2);
    await eventually("the end of the half-open connections", () => proxy.halfOpen() === 0);
  },
);
