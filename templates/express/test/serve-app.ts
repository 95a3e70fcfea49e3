import type { Express } from "express";
import { pino } from "pino";
import { createReceiver, type HandoffCallback, type Receiver, type Signal } from "signalbox";
import { memoryStore } from "signalbox/stores/memory";
import { onTestFinished } from "vitest";
import { createApp } from "../src/app.js";

export const SECRET = "whsec_test";

export interface ServedApp {
  app: Express;
  receiver: Receiver;
  /** The next hand-off that came to its end. */
  handedOff: Promise<unknown>;
}

/** The app with an inbox in memory, closed when the test is over. */
export async function serveApp(onSignal: HandoffCallback<Signal>): Promise<ServedApp> {
  const receiver = createReceiver({ secrets: SECRET, store: memoryStore(), onSignal, logger: false });
  const handedOff = new Promise((resolve) => receiver.on("handedOff", resolve));
  await receiver.start();
  onTestFinished(() => receiver.close());
  return { app: createApp(receiver, pino({ enabled: false })), receiver, handedOff };
}
