import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { DeliveryResponse } from "../delivery.js";

/** How long, and for how many bytes, a refused body is still taken from the wire. */
const LINGER_MS = 1000;
const LINGER_BYTES = 1024 * 1024;
/** For a refused body on a connection that may go on afterwards. */
const DRAIN_MS = 10_000;

const closingSockets = new WeakSet<Socket>();
/** As long as none was closed, which is how most processes live, no delivery is looked at for it. */
let hasClosedAny = false;

/**
 * Whether the connection was told to close. A request that was pipelined behind is not to be processed (RFC 9112, 9.6):
 * its answer could not go out any more.
 */
export function isClosing(request: IncomingMessage): boolean {
  return hasClosedAny && closingSockets.has(request.socket);
}

/** Answers once. A client that is gone, or a response that somebody else ended, is left alone. */
export function sendResponse(request: IncomingMessage, response: ServerResponse, answer: DeliveryResponse): void {
  if (response.headersSent || response.destroyed) return;
  // A hook of the host's may write behind the end, and a response, unlike a request, emits `error` to nobody as well.
  response.on("error", ignore);
  response.writeHead(answer.status, answer.headers);
  if (request.complete || request.readableEnded) {
    response.end(answer.body);
  } else if (answer.headers["Connection"] === "close") {
    linger(request, response, answer.body);
  } else {
    // Node throws the rest of the body away and keeps the connection; only not for ever.
    response.end(answer.body);
    destroyUnlessComplete(request, DRAIN_MS);
  }
}

/**
 * The whole answer goes out at once, the connection closes a little later: closing it while the client still sends
 * would reset it, and the client might never see the answer.
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
  // Once it is answered, node tells a request nothing of the end of its connection. The timer would keep both in memory.
  socket.once("close", over);
}

function ignore(): void {}
