import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { onTestFinished } from "vitest";

/**
 * Serves a remote MCP to a program that cannot send a key. It adds the next of the keys to each
 * request, and replaces the tool names in `standIns`. It changes nothing else: Host, Origin and the
 * answers stay as they are.
 *
 * @returns the address for the program, on this machine
 */
export async function startAuthorizingProxy(
  mcpUrl: string,
  keys: readonly string[],
  standIns: Readonly<Record<string, string>>,
): Promise<string> {
  const target = new URL(mcpUrl);
  const withOurNames = (text: string): string =>
    Object.entries(standIns).reduce(
      (renamed, [theirs, ours]) => renamed.replaceAll(theirs, ours),
      text,
    );
  let passed = 0;

  async function passOn(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method, url: path, rawHeaders } = incoming;
    const body = Buffer.from(withOurNames((await buffer(incoming)).toString("latin1")), "latin1");
    const headers = rawHeaders.map((text, index) => {
      const isLength = index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === "content-length";
      return isLength ? String(body.length) : withOurNames(text);
    });
    headers.push("Authorization", `Bearer ${keys[passed++ % keys.length] ?? ""}`);
    const { hostname, port } = target;
    const onward = request({ hostname, port, path, method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 0, answer.statusMessage, answer.rawHeaders);
      answer.pipe(outgoing);
    });
    onward.on("error", () => outgoing.destroy());
    onward.end(body);
  }

  const server = createServer((incoming, outgoing) => {
    passOn(incoming, outgoing).catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = new URL(mcpUrl);
  url.port = String((server.address() as AddressInfo).port);
  return url.href;
}
