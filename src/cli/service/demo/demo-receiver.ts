import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expressHandler } from "../../../kit/receiver/adapters/express-handler.js";
import { createReceiver, type Receiver } from "../../../kit/receiver/receiver.js";
import { secretFile } from "../../../kit/receiver/secret-file.js";
import type { Signal, TestEvent } from "../../../kit/senders/signals/envelope.js";
import { sqliteStore } from "../../../kit/stores/sqlite/sqlite-store.js";
import { environmentError } from "../../console/exit.js";

const SETTLE_MS = 10_000;
const PATH = "/webhooks/signals";

export type DemoReceiver = Awaited<ReturnType<typeof startDemoReceiver>>;

/**
 * Starts a receiver in an Express app. It has no secret until one is written to its secret file.
 */
export async function startDemoReceiver() {
  const { default: express } = await import("express").catch(() => {
    throw environmentError("the demo needs Express: run `npm install express`");
  });
  const folder = await mkdtemp(join(tmpdir(), "signalbox-demo-"));
  const path = join(folder, "signals.db");
  const secrets = join(folder, "signals.secret");
  const keys: string[] = [];
  const signals: Signal[] = [];
  const record = (event: Signal | TestEvent, { deliveryKey }: { deliveryKey: string }): void => {
    keys.push(deliveryKey);
    if (event.type === "signal.published") signals.push(event);
  };
  const receiver = createReceiver({
    secrets: secretFile(secrets),
    store: sqliteStore(path),
    onSignal: record,
    onTest: record,
    logger: false,
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
    secrets,
    keys: keys as readonly string[],
    signals: signals as readonly Signal[],
    /**
     * Waits until this number of events was handed off and all are settled. After 10 s it resolves
     * nevertheless.
     */
    settle: (handedOff: number, signal: AbortSignal) =>
      whenSettled(receiver, () => keys.length >= handedOff, signal),
    async close(): Promise<void> {
      server.closeAllConnections();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
      await receiver.close();
    },
  };
}

async function whenSettled(
  receiver: Receiver,
  isComplete: () => boolean,
  signal: AbortSignal,
): Promise<void> {
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
