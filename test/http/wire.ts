import { connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** Where the tests mount a receiver. */
export const MOUNT = "/webhooks/signals";

/** One answer as it came over the wire. */
export interface Answer {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: string;
  /** Bytes of the body as received, whatever its Content-Length says. */
  bodyBytes: number;
}

/** A connection on which a test says every byte itself. */
export interface Wire {
  /** Resolves when the bytes are handed to the kernel. */
  write(bytes: string | Uint8Array): Promise<void>;
  /**
   * The next answer, cut by its Content-Length. Rejects when the connection ends before it is
   * whole.
   */
  next(options?: { toHead?: boolean }): Promise<Answer>;
  /** Reads nothing until `resume`, as a client does that sends all it has before it looks. */
  pause(): void;
  resume(): void;
  /** Sends FIN. */
  end(): void;
  /** Is gone, with a reset where bytes are unread. */
  destroy(): void;
  /** `end`: the server closed it in order. `reset`: it did not. */
  closed: Promise<"end" | "reset">;
  /** Bytes that came and are part of no answer yet. */
  unread(): number;
}

export async function openWire(port: number): Promise<Wire> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  socket.setNoDelay(true);
  onTestFinished(() => void socket.destroy());
  return wireOver(socket);
}

function wireOver(socket: Socket): Wire {
  let received = Buffer.alloc(0);
  let ending: "end" | "reset" | null = null;
  let onChange: () => void = () => undefined;
  const closed = new Promise<"end" | "reset">((resolve) => {
    const finish = (how: "end" | "reset") => () => {
      ending ??= how;
      resolve(ending);
      onChange();
    };
    socket.on("end", finish("end")).on("error", finish("reset")).on("close", finish("reset"));
  });
  socket.on("data", (chunk) => {
    received = Buffer.concat([received, chunk]);
    onChange();
  });

  function take(toHead: boolean): Answer | null {
    const headEnd = received.indexOf("\r\n\r\n");
    if (headEnd === -1) return null;
    const { status, headers } = parseHead(received.subarray(0, headEnd).toString("latin1"));
    const length = toHead ? 0 : Number(headers["content-length"] ?? 0);
    const bodyStart = headEnd + 4;
    if (received.byteLength < bodyStart + length) return null;
    const body = received.subarray(bodyStart, bodyStart + length).toString();
    received = received.subarray(bodyStart + length);
    return { status, headers, body, bodyBytes: length };
  }

  return {
    write: (bytes) => new Promise((resolve) => socket.write(bytes, () => resolve())),
    async next({ toHead = false } = {}) {
      for (;;) {
        const answer = take(toHead);
        if (answer !== null) return answer;
        if (ending !== null)
          throw new Error(
            `connection closed (${ending}) after ${JSON.stringify(String(received))}`,
          );
        await new Promise<void>((resolve) => (onChange = resolve));
      }
    },
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    end: () => void socket.end(),
    destroy: () => void socket.destroy(),
    closed,
    unread: () => received.byteLength,
  };
}

function parseHead(head: string): { status: number; headers: Record<string, string> } {
  const [statusLine = "", ...lines] = head.split("\r\n");
  const headers = new Headers(
    lines.map((line): [string, string] => [
      line.slice(0, line.indexOf(":")),
      line.slice(line.indexOf(":") + 1),
    ]),
  );
  return { status: Number(statusLine.split(" ")[1]), headers: Object.fromEntries(headers) };
}

export interface RawRequest {
  method?: string;
  path?: string;
  /** Pairs, so that a name can be sent twice; or an object. */
  headers?: readonly (readonly [string, string])[] | Record<string, string>;
  body?: string | Uint8Array;
  /** False: no Content-Length is added. */
  length?: boolean;
}

/** The bytes of a whole request, ready for {@link Wire.write}. */
export function rawRequest(request: RawRequest): Buffer {
  const { method = "POST", path = MOUNT, headers = [], body = "", length = true } = request;
  const pairs = [...(Array.isArray(headers) ? headers : Object.entries(headers))] as [
    string,
    string,
  ][];
  const names = new Set(pairs.map(([name]) => name.toLowerCase()));
  const bytes = Buffer.from(body);
  if (!names.has("host")) pairs.unshift(["Host", "receiver.example"]);
  if (length && !names.has("content-length"))
    pairs.push(["Content-Length", String(bytes.byteLength)]);
  const head = `${method} ${path} HTTP/1.1\r\n${pairs.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
  return Buffer.concat([Buffer.from(head, "latin1"), bytes]);
}

/** The head of a request whose body comes later: of so many bytes, or in chunks. */
export function headOf(headers: Record<string, string>, length: number | "chunked"): Buffer {
  const framing =
    length === "chunked"
      ? { "Transfer-Encoding": "chunked" }
      : { "Content-Length": String(length) };
  return rawRequest({ headers: { ...headers, ...framing }, length: false });
}

/**
 * The whole conversation on a connection of its own: everything up to the server's FIN is the
 * answer.
 */
export async function exchange(port: number, request: RawRequest): Promise<Answer> {
  const wire = await openWire(port);
  const headers = Array.isArray(request.headers)
    ? request.headers
    : Object.entries(request.headers ?? {});
  await wire.write(rawRequest({ ...request, headers: [...headers, ["Connection", "close"]] }));
  const answer = await wire.next({ toHead: request.method === "HEAD" });
  if ((await wire.closed) === "reset") throw new Error("the connection was reset");
  // Whatever came beyond the announced length belongs to no answer.
  return { ...answer, bodyBytes: answer.bodyBytes + wire.unread() };
}
