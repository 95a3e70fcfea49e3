import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import express from "express";
import express4 from "express4";
import { expect, onTestFinished } from "vitest";
import {
  createReceiver,
  type InboxStore,
  type Receiver,
  type ReceiverEventMap,
  type ReceiverEventName,
  type ReceiverOptions,
} from "../../src/kit/index.js";
import { expressHandler } from "../../src/kit/receiver/adapters/express-handler.js";
import { nodeHandler } from "../../src/kit/receiver/adapters/node-handler.js";
import { memoryStore } from "../../src/kit/stores/memory.js";
import { sqliteStore } from "../../src/kit/stores/sqlite/sqlite-store.js";
import { signalEvent, signedDelivery } from "../../src/kit/testing/index.js";
import { tempFolder } from "../unit/temp-folder.js";
import { mountInFastify, mountInHono, mountInKoa, mountIterable } from "./frameworks.js";
import { exchange, MOUNT, type Answer } from "./wire.js";

export const SECRET = "whsec_over_http";

/** The two Express lines that the package supports. */
export const EXPRESSES = [
  { name: "Express 5", express },
  { name: "Express 4", express: express4 },
];

/** Everything that carries deliveries to a receiver. */
export const STACKS: {
  name: string;
  mount: (receiver: Receiver) => RequestListener | Promise<RequestListener>;
}[] = [
  ...EXPRESSES.map(({ name, express: framework }) => ({
    name,
    mount: (receiver: Receiver) =>
      framework().use(MOUNT, expressHandler(receiver)) as RequestListener,
  })),
  { name: "node:http", mount: nodeHandler },
  { name: "Fastify 5", mount: mountInFastify },
  { name: "Koa", mount: mountInKoa },
  { name: "Hono", mount: mountInHono },
  { name: "an iterable", mount: mountIterable },
];

export function stacksExcept(names: readonly string[]): typeof STACKS {
  return STACKS.filter(({ name }) => !names.includes(name));
}

/** @returns the port; the server ends with the test */
export async function listen(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A receiver that takes everything and is not started. Closed with the test. */
export function makeReceiver(options: Partial<ReceiverOptions> = {}): Receiver {
  const receiver = createReceiver({
    secrets: SECRET,
    store: memoryStore(),
    onSignal: () => undefined,
    logger: false,
    ...options,
  });
  onTestFinished(() => receiver.close({ graceMs: 0 }));
  return receiver;
}

export async function startReceiver(options?: Partial<ReceiverOptions>): Promise<Receiver> {
  const receiver = makeReceiver(options);
  await receiver.start();
  return receiver;
}

/** A receiver at work behind a port. */
export async function serve(
  options?: Partial<ReceiverOptions>,
  { mount } = STACKS[0] as (typeof STACKS)[number],
): Promise<{ receiver: Receiver; port: number }> {
  const receiver = await startReceiver(options);
  return { receiver, port: await listen(await mount(receiver)) };
}

/** A store on a real disk, in a folder that goes with the test. */
export function sqliteOnDisk(): InboxStore {
  return sqliteStore(join(tempFolder(), "signals.db"));
}

/** A signed POST. An event, its text or its bytes; a fresh signal when left out. */
export function delivery(
  event: object | string | Uint8Array = signalEvent(),
  { secret = SECRET, now = Date.now() } = {},
): { headers: Record<string, string>; body: Buffer } {
  return signedDelivery(event, { secret, now });
}

export function deliver(port: number, event?: object | string | Uint8Array): Promise<Answer> {
  return exchange(port, delivery(event));
}

/** Resolves when a delivery was answered that came after all that the server has in hand. */
export async function roundTrip(port: number): Promise<void> {
  expect((await exchange(port, { method: "GET" })).status).toBe(405);
}

export function nextEvent<Name extends ReceiverEventName>(
  receiver: Receiver,
  name: Name,
): Promise<ReceiverEventMap[Name]> {
  return new Promise((resolve) => {
    const stop = receiver.on(name, (event) => {
      stop();
      resolve(event);
    });
  });
}
