import http from "node:http";
import https from "node:https";
import { errorCode } from "../console/error-code.js";
import { throwIfInterrupted } from "../options/define-command.js";
import { environmentError } from "../options/exit.js";
import { withoutSecrets, type Answer } from "./answer.js";

/** One request, as it goes over the wire. */
export interface OutgoingDelivery {
  method: string;
  /** A name that stands here twice is sent in two lines. */
  headers: readonly (readonly [name: string, value: string])[];
  body: Buffer;
  /** In chunks, without a `Content-Length`. */
  isChunked: boolean;
}

export interface SendOptions {
  /** For a whole answer. */
  timeoutMs: number;
  signal: AbortSignal;
  /** What an answer must not show. */
  secrets: readonly string[];
  /** Reuses connections. Without an agent each delivery has its own connection, so that none can disturb the next. */
  agent?: http.Agent;
  /** Keeps the last byte of the body back, so that many deliveries can be completed in the same moment. */
  hold?: Hold;
}

export interface Hold {
  /** Called when all bytes except the last one are sent. */
  onHeld(): void;
  /** Settles when the last byte may go. */
  release: Promise<void>;
}

/** No more is read of an answer's body. The answers of signalbox have a few hundred bytes. */
const MAX_ANSWER_BYTES = 1024 * 1024;

/**
 * Over `node:http`, which sends what `fetch` refuses to: a header twice, odd methods, chunks.
 *
 * @throws CliError when it was interrupted, and for nothing else
 */
export async function sendDelivery(url: URL, delivery: OutgoingDelivery, options: SendOptions): Promise<Answer> {
  const answer = await exchange(url, delivery, options);
  throwIfInterrupted(options.signal);
  return answer;
}

/** The error that ends a command when there is no connection to the receiver. */
export function unreachable(url: URL, code: string): Error {
  // Without the user name and password of the address: such lines end up in the logs of build servers.
  const shown = Object.assign(new URL(url), { username: "", password: "" });
  return environmentError(`nothing can be reached at ${shown.href} (${code}): is the receiver running?`);
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
      // A kept connection emits no `connect` again: a listener for each of its requests would pile up.
      isConnected = request.reusedSocket || !socket.connecting;
      if (!isConnected)
        socket.once(url.protocol === "https:" ? "secureConnect" : "connect", () => (isConnected = true));
    });
    // Also emitted after the answer, when a server stops reading the body and hangs up. The promise is settled by then.
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

function headersOf({ method, headers, body, isChunked }: OutgoingDelivery): Record<string, string | string[]> {
  const grouped: Record<string, string | string[]> = { "User-Agent": "signalbox" };
  for (const [name, value] of headers) {
    const before = grouped[name];
    grouped[name] = before === undefined ? value : [before, value].flat();
  }
  if (isChunked) grouped["Transfer-Encoding"] = "chunked";
  else if (body.length > 0 || method === "POST" || method === "PUT") grouped["Content-Length"] = String(body.length);
  return grouped;
}

function writeBody(request: http.ClientRequest, { body, isChunked }: OutgoingDelivery): void {
  if (!isChunked) {
    request.end(body);
    return;
  }
  const size = Math.max(1, Math.min(16 * 1024, Math.ceil(body.length / 3)));
  for (let start = 0; start < body.length; start += size) request.write(body.subarray(start, start + size));
  request.end();
}

function writeHeld(request: http.ClientRequest, body: Buffer, { onHeld, release }: Hold): void {
  request.write(body.subarray(0, -1), onHeld);
  void release.then(() => request.end(body.subarray(-1)));
}
