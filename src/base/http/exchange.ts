import { request as requestHttp, type ClientRequest, type IncomingHttpHeaders } from "node:http";
import { request as requestHttps, type RequestOptions } from "node:https";
import { codeOf } from "../errors.js";
import { systemClock } from "../time/clock.js";

/** What came of a request. `code` is `timeout`, `upgraded`, or that of Node's or OpenSSL's error. */
export type Exchanged =
  | { kind: "answer"; status: number; headers: IncomingHttpHeaders; body: Buffer; ms: number }
  | { kind: "unreachable"; code: string }
  /** The connection was made, but no complete answer was received. */
  | { kind: "broken"; code: string; ms: number };

export interface ExchangeOptions extends Pick<
  RequestOptions,
  "method" | "headers" | "lookup" | "ca" | "signal"
> {
  /**
   * Reuses connections. Without an agent each request has its own connection, so that none affects
   * the next.
   */
  agent?: RequestOptions["agent"];
  /** From the look-up of the name to the last byte of the answer, in real time. */
  timeoutMs: number;
  /** The rest of a longer answer is not read. */
  maxAnswerBytes: number;
}

/**
 * Makes one request. Never rejects, and does not follow redirects. By `node:http`, because `fetch`
 * refuses repeated headers, some methods and chunked bodies.
 *
 * @param write sends the body and ends the request
 */
export function exchange(
  url: URL,
  { agent = false, timeoutMs, maxAnswerBytes, ...options }: ExchangeOptions,
  write: (request: ClientRequest) => void,
): Promise<Exchanged> {
  return new Promise((resolve) => {
    const startedAt = performance.now();
    const isSecure = url.protocol === "https:";
    let isConnected = false;
    let request: ClientRequest | undefined;
    const timer = systemClock.setTimeout(() => fail("timeout"), timeoutMs);
    function end(outcome: Exchanged, isComplete = false): void {
      timer.cancel();
      resolve(outcome);
      // Otherwise the connection of an incomplete request stays open.
      if (agent === false || !isComplete) request?.destroy();
    }
    // An error after the answer has no effect. It is emitted if a server closes the connection
    // before it has read the body.
    function fail(code: string): void {
      const ms = performance.now() - startedAt;
      end(isConnected ? { kind: "broken", code, ms } : { kind: "unreachable", code });
    }
    const failWith = (error: unknown): void => fail(codeOf(error) || "error");
    try {
      request = (isSecure ? requestHttps : requestHttp)(url, { ...options, agent });
    } catch (error) {
      // Node throws for some urls and headers.
      return failWith(error);
    }
    const sent = request;
    sent.on("socket", (socket) => {
      // A reused connection does not emit `connect` again. A listener added to it would stay, so
      // none is added.
      isConnected = sent.reusedSocket || !socket.connecting;
      if (!isConnected)
        socket.once(isSecure ? "secureConnect" : "connect", () => (isConnected = true));
    });
    sent.on("error", failWith);
    // The receiver switched to another protocol (101).
    sent.on("upgrade", () => fail("upgraded"));
    sent.on("response", (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      const answered = (isComplete: boolean): void => {
        const { statusCode: status = 0, headers } = response;
        const body = Buffer.concat(chunks).subarray(0, maxAnswerBytes);
        const ms = performance.now() - startedAt;
        end({ kind: "answer", status, headers, body, ms }, isComplete);
      };
      response.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        bytes += chunk.byteLength;
        if (bytes > maxAnswerBytes) answered(false);
      });
      response.on("error", failWith);
      response.on("end", () => answered(true));
    });
    write(sent);
  });
}

const FAILURES = [
  [/^ECONNREFUSED$/, "connection_refused"],
  [/^(ECONNRESET|EPIPE|ECONNABORTED)$/, "connection_reset"],
  [/^(ENOTFOUND|EAI_.*|ENODATA|ESERVFAIL)$/, "name_unresolved"],
  [/^(timeout|ETIMEDOUT)$/, "timed_out"],
  [/^(HPE_.*|upgraded)$/, "answer_unreadable"],
  [/CERT|TLS|SSL|^EPROTO$|^UNABLE_TO_|HOSTNAME_MISMATCH/, "tls_failed"],
] as const;

/** Why a request got no answer, for those who need no code. */
export type ExchangeFailure = (typeof FAILURES)[number][1] | "unreachable";

/** The kind of failure that a code of {@link Exchanged} means. */
export function failureOf(code: string): ExchangeFailure {
  return FAILURES.find(([codes]) => codes.test(code))?.[1] ?? "unreachable";
}
