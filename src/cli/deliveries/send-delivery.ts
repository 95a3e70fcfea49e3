import http from "node:http";
import https from "node:https";
import { environmentError, errorCode } from "../console/exit.js";
import { withoutSecrets, type Answer } from "./answer.js";

export interface OutgoingDelivery {
  method: string;
  /** A name that is listed twice is sent as two header lines. */
  headers: readonly (readonly [name: string, value: string])[];
  body: Buffer;
  isChunked: boolean;
}

export interface SendOptions {
  timeoutMs: number;
  signal: AbortSignal;
  /** Secrets to remove from the answer's `shown`. */
  secrets: readonly string[];
  /**
   * Reuses connections. Without an agent each delivery has its own connection, so that no delivery
   * affects the next.
   */
  agent?: http.Agent;
  /**
   * Delays the last byte of the body, so that many deliveries can be completed at the same moment.
   */
  hold?: Hold;
}

export interface Hold {
  onHeld(): void;
  release: Promise<unknown>;
}

/**
 * The rest of a longer answer is dropped. A receiver made with signalbox answers with at most a few
 * hundred bytes.
 */
const MAX_ANSWER_BYTES = 1024 * 1024;

/** By `node:http`, because `fetch` refuses repeated headers, some methods and chunked bodies. */
export async function sendDelivery(
  url: URL,
  delivery: OutgoingDelivery,
  options: SendOptions,
): Promise<Answer> {
  const answer = await exchange(url, delivery, options);
  options.signal.throwIfAborted();
  return answer;
}

export function unreachable(url: URL, code: string): Error {
  // The user name and the password are removed, because build servers log this line.
  const shown = Object.assign(new URL(url), { username: "", password: "" });
  return environmentError(`cannot connect to ${shown.href} (${code}): is the receiver running?`);
}

function exchange(url: URL, delivery: OutgoingDelivery, options: SendOptions): Promise<Answer> {
  return new Promise((resolve) => {
    const startedAt = performance.now();
    let isConnected = false;
    const ms = (): number => performance.now() - startedAt;
    const fail = (code: string): void => {
      clearTimeout(timer);
      resolve(isConnected ? { kind: "broken", code, ms: ms() } : { kind: "unreachable", code });
      request.destroy();
    };
    const timer = setTimeout(() => fail("timeout"), options.timeoutMs);

    const { request: open } = url.protocol === "https:" ? https : http;
    const request = open(url, {
      method: delivery.method,
      headers: headersOf(delivery),
      agent: options.agent ?? false,
      signal: options.signal,
    });
    request.on("socket", (socket) => {
      // A reused connection does not emit `connect` again. A listener added to it would stay, so
      // none is added.
      isConnected = request.reusedSocket || !socket.connecting;
      if (!isConnected)
        socket.once(
          url.protocol === "https:" ? "secureConnect" : "connect",
          () => (isConnected = true),
        );
    });
    // An error after the answer has no effect. It is emitted if a server closes the connection
    // before it has read the body.
    request.on("error", (error) => fail(errorCode(error)));
    request.on("response", (response) => {
      const chunks: Buffer[] = [];
      let length = 0;
      response.on("data", (chunk: Buffer) => {
        length += chunk.length;
        if (length <= MAX_ANSWER_BYTES) chunks.push(chunk);
      });
      response.on("error", (error) => fail(errorCode(error)));
      response.on("end", () => {
        clearTimeout(timer);
        const body = Buffer.concat(chunks).toString("utf8");
        const { statusCode: status = 0, headers } = response;
        const shown = withoutSecrets(body, options.secrets);
        resolve({ kind: "answer", status, headers, body, shown, ms: ms() });
      });
    });
    if (options.hold === undefined) writeBody(request, delivery);
    else writeHeld(request, delivery.body, options.hold);
  });
}

function headersOf({
  method,
  headers,
  body,
  isChunked,
}: OutgoingDelivery): Record<string, string | string[]> {
  const grouped: Record<string, string | string[]> = { "User-Agent": "signalbox" };
  for (const [name, value] of headers) {
    const before = grouped[name];
    grouped[name] = before === undefined ? value : [before, value].flat();
  }
  if (isChunked) grouped["Transfer-Encoding"] = "chunked";
  else if (body.length > 0 || method === "POST" || method === "PUT")
    grouped["Content-Length"] = String(body.length);
  return grouped;
}

function writeBody(request: http.ClientRequest, { body, isChunked }: OutgoingDelivery): void {
  if (!isChunked) {
    request.end(body);
    return;
  }
  const size = Math.max(1, Math.min(16 * 1024, Math.ceil(body.length / 3)));
  for (let start = 0; start < body.length; start += size)
    request.write(body.subarray(start, start + size));
  request.end();
}

function writeHeld(request: http.ClientRequest, body: Buffer, { onHeld, release }: Hold): void {
  request.write(body.subarray(0, -1), onHeld);
  void release.then(() => request.end(body.subarray(-1)));
}
