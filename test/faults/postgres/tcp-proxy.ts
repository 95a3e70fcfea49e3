import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { onTestFinished } from "vitest";

interface Link {
  client: Socket;
  upstream: Socket | null;
  isHalfOpen: boolean;
}

/** Stands between a receiver and its database. Closed with the test. */
export async function startProxy(target: number) {
  const links = new Set<Link>();
  const all = new Set<Socket>();
  let isFrozen = false;
  let targetPort = target;

  function connectUpstream(): Socket | null {
    return isFrozen ? null : connect(targetPort, "127.0.0.1");
  }

  function accept(client: Socket): void {
    const link: Link = { client, upstream: connectUpstream(), isHalfOpen: isFrozen };
    links.add(link);
    client.on("close", () => links.delete(link));
    forward(link, client, link.upstream);
    if (link.upstream !== null) forward(link, link.upstream, client);
  }

  function forward(link: Link, from: Socket, to: Socket | null): void {
    all.add(from);
    from.on("error", () => undefined);
    from.on("data", (data: Buffer) => {
      if (!link.isHalfOpen) to?.write(data);
    });
    from.on("close", () => {
      if (!link.isHalfOpen) to?.destroy();
    });
  }

  const server = createServer(accept).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of all) socket.destroy();
    server.close();
  });

  return {
    port: (server.address() as AddressInfo).port,
    /**
     * From now on every connection is half open, a new one too: nothing is forwarded in either
     * direction, and nothing is closed.
     */
    freeze() {
      isFrozen = true;
      for (const link of links) link.isHalfOpen = true;
    },
    /**
     * New connections go to this port of this machine. The others are cut, but those that are half
     * open stay so.
     */
    switchTo(port: number) {
      isFrozen = false;
      targetPort = port;
      for (const { client, isHalfOpen } of links) if (!isHalfOpen) client.destroy();
    },
  };
}

export type TcpProxy = Awaited<ReturnType<typeof startProxy>>;
