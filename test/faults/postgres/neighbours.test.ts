import { expect, onTestFinished } from "vitest";
import { createReceiver, type Receiver } from "../../../src/index.js";
import { postgresStore } from "../../../src/stores/postgres/postgres-store.js";
import { signalEvent, signedDelivery } from "../../../src/testing/index.js";
import { POSTGRES_URL } from "../../contract/postgres-medium.js";
import { eventually } from "../eventually.js";
import { newSchema, testOnPostgres } from "./open-stores.js";

const SECRET = "whsec_neighbours";
const CONCURRENCY = 4;

/** A receiver on the schema; its callbacks end when `release` is called, or at once after it. */
async function startOn(schema: string): Promise<{ receiver: Receiver; begun: string[]; release(): void }> {
  const begun: string[] = [];
  let release = (): void => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const receiver = createReceiver({
    secrets: SECRET,
    logger: false,
    store: postgresStore({ connectionString: POSTGRES_URL, schema }),
    handoff: { concurrency: CONCURRENCY },
    async onSignal({ id }) {
      begun.push(id);
      await released;
    },
  });
  await receiver.start();
  onTestFinished(() => receiver.close({ graceMs: 0 }));
  return { receiver, begun, release: () => release() };
}

testOnPostgres("of a burst that one process got, its idle neighbour begins what the other cannot", async () => {
  const { schema } = newSchema();
  const [busy, idle] = [await startOn(schema), await startOn(schema)];
  const answers = await Promise.all(
    Array.from({ length: 200 }, () => {
      const { headers, body } = signedDelivery(signalEvent(), { secret: SECRET });
      return busy.receiver.handle({ method: "POST", headers, body });
    }),
  );
  expect(answers.every(({ status }) => status === 200)).toBe(true);
  // Nothing ends before this, so an event that the first process held could not reach the second within its lease.
  const bothAreFull = (): boolean => [busy, idle].every(({ begun }) => begun.length === CONCURRENCY);
  await eventually("the neighbour's first callbacks", bothAreFull, 10_000);

  busy.release();
  idle.release();
  await eventually("the end of all", () => busy.begun.length + idle.begun.length === 200);
  expect(new Set([...busy.begun, ...idle.begun]).size).toBe(200);
});
