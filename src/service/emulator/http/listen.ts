import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { SignalboxError } from "../../../base/errors.js";
import type { RequestListener } from "./create-app.js";

export interface Listening {
  port: number;
  /** Accepts no more connections. Resolves when the open connections have ended. */
  close(): Promise<void>;
}

/** The time in which a request with its body must have arrived. */
const REQUEST_TIMEOUT_MS = 30_000;

/** @throws SignalboxError `port_in_use`, `address_unusable` */
export async function listen(
  { port, host }: { port: number; host: string },
  listener: RequestListener,
): Promise<Listening> {
  const server = createServer(
    { requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS },
    listener,
  );
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

function listenError(
  { code = "unknown error" }: NodeJS.ErrnoException,
  host: string,
  port: number,
): SignalboxError {
  if (code === "EADDRINUSE") {
    const help = "Stop the process that listens there, or use another port (0 takes a free port).";
    return new SignalboxError("port_in_use", `The port ${port} of ${host} is in use.`, help);
  }
  return new SignalboxError(
    "address_unusable",
    `Cannot listen on port ${port} of ${host} (${code}).`,
    "",
  );
}

async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  // Connections with running answers are closed after a second, because a client that does not read
  // would keep them open.
  const forced = setTimeout(() => server.closeAllConnections(), 1000);
  await closed;
  clearTimeout(forced);
}
