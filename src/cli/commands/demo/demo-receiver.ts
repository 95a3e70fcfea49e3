import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import type { Signal, TestEvent } from "../../../events/envelope.js";
import { expressHandler } from "../../../receiver/adapters/express-handler.js";
import { createReceiver, type Receiver } from "../../../receiver/receiver.js";
import type { SecretsOption } from "../../../receiver/secrets.js";
import { sqliteStore } from "../../../stores/sqlite/sqlite-store.js";
import { environmentError } from "../../options/exit.js";

const SETTLE_MS = 10_000;
const PATH = "/webhooks/signals";

export type DemoReceiver = Awaited<ReturnType<typeof startDemoReceiver>>;

/** @param options `secrets`: returns the option `secrets` of the receiver, given the folder of its files */
export async function startDemoReceiver({
  verbose,
  secrets,
}: {
  verbose: boolean;
  secrets: (folder: string) => SecretsOption;
}) {
  const { default: express } = await import("express").catch(() => {
    throw environmentError("the demo needs Express: run `npm install express`");
  });
  const folder = await mkdtemp(join(tmpdir(), "signalbox-demo-"));
  const path = join(folder, "signals.db");
  const keys: string[] = [];
  const signals: Signal[] = [];
  const record = (event: Signal | TestEvent, { deliveryKey }: { deliveryKey: string }): void => {
    keys.push(deliveryKey);
    if (event.type === "signal.published") signals.push(event);
  };
  const receiver = createReceiver({
    secrets: secrets(folder),
    store: sqliteStore(path),
    onSignal: record,
    onTest: record,
    logger: verbose ? pino({ level: "debug" }, pino.destination({ fd: 2, sync: true })) : false,
  });
  let server: Server;
  try {
    await receiver.start();
    const app = express();
    app.use(PATH, expressHandler(receiver));
    app.use(express.json());
    server = app.listen(0, "127.0.0.1");
    await once(server, "listening");
  } catch (error) {
    await receiver.close();
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  const { port } = server.address() as AddressInfo;
  return {
    url: new URL(`http://127.0.0.1:${port}${PATH}`),
    receiver,
    folder,
    path,
    /** The signals that `onSignal` received, in the order of the calls. */
    signals: signals as readonly Signal[],
    /** Waits until the callbacks received this number of events and all are settled. After 10 s it resolves nevertheless. */
    async settle(expectedEvents: number, signal: AbortSignal) {
      await whenHandedOff(receiver, () => keys.length >= expectedEvents, signal);
      const { ready, leased, done, dead, quarantined } = await receiver.inbox.stats();
      const inbox = { ready, leased, done, dead, quarantined };
      return { handoffs: keys.length, events: new Set(keys).size, inbox };
    },
    /** Idempotent. */
    async close(): Promise<void> {
      server.closeAllConnections();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
      await receiver.close();
    },
  };
}

/** Waits at most 10 s until `isComplete()` is true and no event is ready or leased. */
async function whenHandedOff(receiver: Receiver, isComplete: () => boolean, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + SETTLE_MS;
  while (performance.now() < deadline && !signal.aborted) {
    if (isComplete()) {
      const { ready, leased } = await receiver.inbox.stats();
      if (ready + leased === 0) return;
    }
    // Polls, because the receiver does not report when the settlements are committed.
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
