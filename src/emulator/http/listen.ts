import { createServer, STATUS_CODES, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Socket } from "node:net";
import { SignalboxError } from "../../errors.js";
import { randomUuid, type RandomSource } from "../instance/random-source.js";
import type { RequestListener } from "./create-app.js";
import { envelope } from "./answer.js";

export interface Listening {
  port: number;
  /** Accepts no more connections, and resolves when the open ones have ended. */
  close(): Promise<void>;
}

/** The time in which a request with its body must have arrived. */
const REQUEST_TIMEOUT_MS = 30_000;

/** @throws SignalboxError `port_in_use`, `address_unusable` */
export async function listen(
  { port, host, random }: { port: number; host: string; random: RandomSource },
  listener: RequestListener,
): Promise<Listening> {
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS }, listener);
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => refuseRequest(error, socket as Socket, random));
  await new Promise<void>((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void => reject(listenError(error, host, port));
    server.once("error", onError);
    server.listen({ port, host }, () => {
      server.off("error", onError);
      resolve();
    });
  });
  return { port: (server.address() as AddressInfo).port, close: () => closeServer(server) };
}

/** Answers with the envelope when Node could not read a request. */
function refuseRequest({ code }: NodeJS.ErrnoException, socket: Socket, random: RandomSource): void {
  if (!socket.writable || code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const requestId = `req_${randomUuid(random)}`;
  const why = code === "HPE_HEADER_OVERFLOW" ? "has too large a header" : "is no HTTP request that could be read";
  const body = JSON.stringify(envelope("INVALID_PARAMETERS", `What was sent ${why}.`, requestId));
  const head = [
    `HTTP/1.1 400 ${STATUS_CODES[400] ?? ""}`,
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}

function listenError({ code = "unknown error" }: NodeJS.ErrnoException, host: string, port: number): SignalboxError {
  if (code === "EADDRINUSE") {
    const help = "Stop what listens there, or take another port (0 takes a free one).";
    return new SignalboxError("port_in_use", `The port ${port} of ${host} is in use.`, help);
  }
  return new SignalboxError("address_unusable", `Cannot listen on port ${port} of ${host} (${code}).`, "");
}

async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  // An answer that is being sent may be finished, but a client that does not read it is not waited for.
  const forced = setTimeout(() => server.closeAllConnections(), 1000);
  await closed;
  clearTimeout(forced);
}
