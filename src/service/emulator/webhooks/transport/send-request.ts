import { request as requestHttp, type ClientRequest, type IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";
import { TLSSocket } from "node:tls";
import { systemClock } from "../../../../base/time/clock.js";
import type { Assumptions } from "../../instance/assumption-options.js";
import { addressIn, mayConnect } from "../registrations/endpoint-rules.js";
import { ADDRESS_REFUSED, createCheckedLookup, type ResolveName } from "./resolve-name.js";

/**
 * Why a request got no answer. `address_refused` and `aborted`: the emulator itself ended the
 * request.
 */
export type RequestFailure =
  | "timed_out"
  | "connection_refused"
  | "connection_reset"
  | "name_unresolved"
  | "address_refused"
  | "tls_failed"
  | "answer_unreadable"
  | "unreachable"
  | "aborted";

export type RequestOutcome =
  { status: number; headers: Record<string, string>; body: Buffer } | { failure: RequestFailure };

export interface WebhookRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  /** In real time. @default the assumption `deliveryTimeoutMs` */
  timeoutMs?: number | undefined;
  /** Ends the connection in the middle of the body, as a proxy or a broken network can. */
  breaksOff?: "cut_body" | "reset" | undefined;
}

/** Sends one POST. Never rejects, and does not follow redirects. */
export type SendRequest = (request: WebhookRequest, signal: AbortSignal) => Promise<RequestOutcome>;

export interface RequestSenderOptions {
  assumptions: Pick<Assumptions, "deliveryTimeoutMs" | "allowLoopbackHttp">;
  /** @default the system's resolver */
  resolve?: ResolveName | undefined;
  /** The only certificates of authorities to trust, PEM. @default those that Node trusts */
  ca?: string | undefined;
}

/** At most this much of an answer's body is read. */
const ANSWER_LIMIT_BYTES = 16_384;

/**
 * Sends each delivery over a connection of its own. An address is checked in the look-up of its
 * connection, so the connection cannot use another address than the checked one. The time-out runs
 * in real time, from the look-up of the name to the last byte of the answer.
 */
export function createRequestSender({
  assumptions,
  resolve,
  ca,
}: RequestSenderOptions): SendRequest {
  const lookupFor = createCheckedLookup(resolve, assumptions);
  return (
    { url: address, headers, body, timeoutMs = assumptions.deliveryTimeoutMs, breaksOff },
    signal,
  ) =>
    new Promise<RequestOutcome>((done) => {
      const url = new URL(address);
      const ip = addressIn(url);
      if (ip !== null && !mayConnect(url.protocol, [ip], assumptions))
        return done({ failure: "address_refused" });
      const timer = systemClock.setTimeout(() => end({ failure: "timed_out" }), timeoutMs);
      const fail = (error: Error): void =>
        end({ failure: signal.aborted ? "aborted" : failureOf(error) });
      let request: ClientRequest | undefined;
      function end(outcome: RequestOutcome): void {
        timer.cancel();
        done(outcome);
        // Otherwise the connection of an incomplete request stays open.
        request?.destroy();
      }
      try {
        request = (url.protocol === "https:" ? requestHttps : requestHttp)(url, {
          method: "POST",
          headers,
          agent: false,
          lookup: lookupFor(url.protocol),
          ca,
          signal,
        });
      } catch (error) {
        // Node throws for some urls and headers.
        return fail(error as Error);
      }
      request.on("response", (response) => readAnswer(response, end, fail));
      request.on("error", fail);
      // If there was neither an answer nor an error, the receiver switched to another protocol
      // (101).
      request.on("upgrade", () => end({ failure: "answer_unreadable" }));
      if (breaksOff === undefined) request.end(body);
      else breakOff(request, body, breaksOff);
    });
}

function readAnswer(
  response: IncomingMessage,
  onEnd: (outcome: RequestOutcome) => void,
  onError: (error: Error) => void,
): void {
  const chunks: Buffer[] = [];
  let size = 0;
  const answered = (): void =>
    onEnd({
      status: response.statusCode ?? 0,
      headers: Object.fromEntries(
        Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
      ),
      body: Buffer.concat(chunks).subarray(0, ANSWER_LIMIT_BYTES),
    });
  response.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size > ANSWER_LIMIT_BYTES) answered();
  });
  response.on("end", answered);
  response.on("error", onError);
}

/** Sends the first half of the body, then closes or resets the connection. */
function breakOff(request: ClientRequest, body: Buffer, how: "cut_body" | "reset"): void {
  request.write(body.subarray(0, Math.floor(body.byteLength / 2)), () => {
    const { socket } = request;
    if (how === "cut_body") socket?.end();
    else if (socket === null || socket instanceof TLSSocket) socket?.destroy();
    else socket.resetAndDestroy();
  });
}

const FAILURES: readonly (readonly [codes: RegExp, failure: RequestFailure])[] = [
  [new RegExp(`^${ADDRESS_REFUSED}$`), "address_refused"],
  [/^ECONNREFUSED$/, "connection_refused"],
  [/^(ECONNRESET|EPIPE|ECONNABORTED)$/, "connection_reset"],
  [/^(ENOTFOUND|EAI_.*|ENODATA|ESERVFAIL)$/, "name_unresolved"],
  [/^ETIMEDOUT$/, "timed_out"],
  [/^HPE_/, "answer_unreadable"],
  [/CERT|TLS|SSL|^EPROTO$|^UNABLE_TO_|HOSTNAME_MISMATCH/, "tls_failed"],
];

function failureOf(error: Error): RequestFailure {
  const code = "code" in error ? String(error.code) : "";
  return FAILURES.find(([codes]) => codes.test(code))?.[1] ?? "unreachable";
}
