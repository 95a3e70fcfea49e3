import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { ignore } from "../../../base/errors.js";
import type { DeliveryResponse } from "../delivery.js";

/** How long, and how many bytes, of a refused body are still read before its connection closes. */
const LINGER_MS = 1000;
const LINGER_BYTES = 1024 * 1024;
/**
 * How long the rest of a refused body may take on a connection that stays open. After that the
 * connection is closed.
 */
const DRAIN_MS = 10_000;

const closingSockets = new WeakSet<Socket>();
/**
 * False in most processes, which never close a connection and so need no look-up in
 * `closingSockets`.
 */
let hasClosedAny = false;

/**
 * Whether an answer with `Connection: close` was sent on this connection. A later, pipelined
 * request must not be processed (RFC 9112, 9.6): its answer could not be sent.
 */
export function isClosing(request: IncomingMessage): boolean {
  return hasClosedAny && closingSockets.has(request.socket);
}

interface Answer extends Omit<DeliveryResponse, "body"> {
  body: string | Uint8Array;
}

/** Answers once. Does nothing when the client has gone or the application has answered already. */
export function sendResponse(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
): void {
  if (response.headersSent || response.destroyed) return;
  if (answer.headers["Connection"] === "close" && request.httpVersionMajor > 1) {
    // HTTP/2 has no such header: there a refused body ends only its own stream (RFC 9113, 8.2.2).
    const { Connection: _, ...headers } = answer.headers;
    return sendResponse(request, response, { ...answer, headers });
  }
  // If the application writes to the ended response, Node emits `error`, which without a listener
  // ends the process.
  response.on("error", ignore);
  response.writeHead(answer.status, answer.headers);
  if (request.complete || request.readableEnded) {
    response.end(answer.body);
  } else if (answer.headers["Connection"] === "close") {
    linger(request, response, answer.body);
  } else {
    // Node reads and drops the rest of the body without a limit, and keeps the connection open.
    response.end(answer.body);
    destroyUnlessComplete(request, DRAIN_MS);
  }
}

/**
 * Sends the whole answer immediately, and closes the connection a little later. Closing it while
 * the client still sends would reset the connection, and the client might not get the answer.
 */
function linger(request: IncomingMessage, response: ServerResponse, body: Answer["body"]): void {
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
  const stop = (): void => {
    clearTimeout(timer);
    request.off("close", stop);
    socket.off("close", stop);
  };
  const timer = setTimeout(() => {
    stop();
    if (!request.complete) request.destroy();
  }, delayMs);
  timer.unref();
  request.once("close", stop);
  // After the answer, `request` emits nothing when its connection ends. Without this, the timer
  // would keep both in memory.
  socket.once("close", stop);
}
