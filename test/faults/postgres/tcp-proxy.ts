import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** Stands between a receiver and its database. Closed with the test. */
export interface TcpProxy {
  port: number;
  /** How many connections the receiver has open. */
  open(): number;
  /** Forwards nothing more in either direction, and closes nothing: every connection is half open, new ones too. */
  freeze(): void;
  /** Cuts every connection. New ones go to this port of this machine. */
  switchTo(port: number): void;
}

export async function startProxy(target: number): Promise<TcpProxy> {
  const clients = new Set<Socket>();
  let isFrozen = false;
  let targetPort = target;

  const server = createServer((client) => {
    clients.add(client);
    client.on("close", () => clients.delete(client)).on("error", () => {});
    // Read, so that the end of the client is noticed.
    if (isFrozen) return void client.resume();
    const upstream = connect(targetPort, "127.0.0.1");
    client.on("data", (data: Buffer) => isFrozen || upstream.write(data));
    upstream.on("data", (data: Buffer) => isFrozen || client.write(data));
    // A server that was cut off by the network does not learn that the client is gone.
    client.on("close", () => isFrozen || upstream.destroy());
    upstream.on("close", () => isFrozen || client.destroy()).on("error", () => {});
    sockets.add(upstream);
    upstream.on("close", () => sockets.delete(upstream));
  });
  const sockets = new Set<Socket>();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = (): void => {
    for (const socket of [...clients, ...sockets]) socket.destroy();
  };
  onTestFinished(() => {
    cut();
    server.close();
  });

  return {
    port: (server.address() as AddressInfo).port,
    open: () => clients.size,
    freeze: () => void (isFrozen = true),
    switchTo(port) {
      targetPort = port;
      isFrozen = false;
      for (const client of clients) client.destroy();
    },
  };
}
