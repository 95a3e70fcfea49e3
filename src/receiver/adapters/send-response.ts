import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { DeliveryResponse } from "../delivery.js";

/** How long, and for how many bytes, the rest of a refused body is still read from the connection. */
const LINGER_MS = 1000;
const LINGER_BYTES = 1024 * 1024;
/** The same for a connection that stays open afterwards. */
const DRAIN_MS = 10_000;

const closingSockets = new WeakSet<Socket>();
/** Most processes never close a connection: then no delivery pays for the check. */
let hasClosedAny = false;

/**
 * Whether an answer with `Connection: close` was sent on this connection. A later, pipelined request must not be processed
 * (RFC 9112, 9.6): its answer could not be sent.
 */
export function isClosing(request: IncomingMessage): boolean {
  return hasClosedAny && closingSockets.has(request.socket);
}

/** Answers once. Does nothing when the client is gone or the host has answered already. */
export function sendResponse(request: IncomingMessage, response: ServerResponse, answer: DeliveryResponse): void {
  if (response.headersSent || response.destroyed) return;
  // A hook of the host may write after the end. Node then emits `error`, which without a listener ends the process.
  response.on("error", ignore);
  response.writeHead(answer.status, answer.headers);
  if (request.complete || request.readableEnded) {
    response.end(answer.body);
  } else if (answer.headers["Connection"] === "close") {
    linger(request, response, answer.body);
  } else {
    // Node reads and drops the rest of the body and keeps the connection open, without a limit of its own.
    response.end(answer.body);
    destroyUnlessComplete(request, DRAIN_MS);
  }
}

/**
 * The whole answer is sent at once, and the connection closes a little later. Closing it while the client still sends would
 * reset it, and the client might never see the answer.
 */
function linger(request: IncomingMessage, response: ServerResponse, body: string): void {
  hasClosedAny = true;
  closingSockets.add(request.socket);
  response.write(body);
  let received = 0;
  const close = (): void => {
    clearTimeout(timer);
    request.off("data", onData);
    response.end();
  };
  const onData = (chunk: Buffer): void => {
    received += chunk.byteLength;
    if (received > LINGER_BYTES) close();
  };
  const timer = setTimeout(close, LINGER_MS);
  timer.unref();
  request.on("data", onData);
  request.once("end", close);
  request.once("close", close);
  request.resume();
}

function destroyUnlessComplete(request: IncomingMessage, delayMs: number): void {
  const { socket } = request;
  const over = (): void => {
    clearTimeout(timer);
    request.off("close", over);
    socket.off("close", over);
  };
  const timer = setTimeout(() => {
    over();
    if (!request.complete) request.destroy();
  }, delayMs);
  timer.unref();
  request.once("close", over);
  // After the answer a request gets no event when its connection ends. The timer would keep both in memory.
  socket.once("close", over);
}

function ignore(): void {}
