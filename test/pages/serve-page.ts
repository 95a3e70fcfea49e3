import { request as forward, type RequestListener } from "node:http";
import express from "express";
import { expect } from "vitest";
import { PermanentFailure, type Receiver, type ReceiverOptions } from "../../src/kit/index.js";
import { inboxPage, type InboxPageOptions } from "../../src/page/inbox/inbox-page.js";
import { delivery, listen, nextEvent, startReceiver } from "../http/serve.js";
import { exchange, type RawRequest } from "../http/wire.js";

/** Where the tests mount the page. */
export const PAGE_MOUNT = "/ops/signals";

export const everyone = { authorize: () => true };
/** The headers of a write, as the page sends it. */
export const PAGE_WRITE = { "X-Signalbox": "1", "Content-Type": "application/json" };
/** A callback that gives every event up. */
export const refuse = (): never => {
  throw new PermanentFailure("no such tenant");
};

/** The page of a started receiver in Express 5, for everyone on this machine. */
export async function servePage(
  receiverOptions: Partial<ReceiverOptions> = {},
  options: InboxPageOptions = everyone,
) {
  const receiver = await startReceiver(receiverOptions);
  const port = await listen(
    express().use(PAGE_MOUNT, inboxPage(receiver, options)) as RequestListener,
  );
  return { receiver, port, ...askAt(port) };
}

export function askAt(port: number, mount = PAGE_MOUNT) {
  /** A request below the page's mount. */
  const ask = (path: string, request: RawRequest = {}) =>
    exchange(port, { method: "GET", path: `${mount}/${path}`, ...request });
  return {
    ask,
    /** A replay as the page asks for it. */
    replay: (body: string) => ask("api/replay", { method: "POST", headers: PAGE_WRITE, body }),
  };
}

/** Gives the receiver an event, and waits for its end. */
export async function take(
  receiver: Receiver,
  event: object | string | Uint8Array,
  end: "handedOff" | "dead" | "quarantined",
  now = Date.now(),
): Promise<void> {
  const ended = nextEvent(receiver, end);
  const { status } = await receiver.handle({ method: "POST", ...delivery(event, { now }) });
  expect(status).toBe(200);
  await ended;
}

/**
 * A proxy that serves `target` below a path, and takes that path away. @returns its address, with
 * the path
 */
export async function strippingProxy(prefix: string, target: string): Promise<string> {
  const port = await listen((incoming, response) => {
    const { url = "", method, headers } = incoming;
    const path = url.startsWith(prefix) ? url.slice(prefix.length) : "/outside-of-the-prefix";
    const passed = forward(`${target}${path}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    passed.on("error", () => response.destroy());
    response.on("close", () => passed.destroy());
    incoming.pipe(passed);
  });
  return `http://127.0.0.1:${port}${prefix}`;
}
