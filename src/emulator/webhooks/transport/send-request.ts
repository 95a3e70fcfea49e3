import { Agent as HttpAgent, request as requestHttp, type ClientRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import { TLSSocket } from "node:tls";
import { systemClock } from "../../../time/clock.js";
import type { Assumptions } from "../../instance/assumption-options.js";
import { addressIn, mayConnect } from "../registrations/endpoint-rules.js";
import { ADDRESS_REFUSED, createCheckedLookup, type ResolveName } from "./resolve-name.js";

/** Why a request got no answer. `address_refused` and `aborted`: the emulator itself ended the request. */
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
 * Sends deliveries over connections that are reused. An address is checked in the look-up of its connection, so the connection
 * cannot use another address than the checked one. The time-out runs in real time, from the look-up of the name to the last byte
 * of the answer.
 */
export function createRequestSender({ assumptions, resolve, ca }: RequestSenderOptions) {
  const agents = { "http:": new HttpAgent({ keepAlive: true }), "https:": new HttpsAgent({ keepAlive: true }) };
  const lookupFor = createCheckedLookup(resolve, assumptions);

  /** @param onEnd called once */
  function begin(given: WebhookRequest, onEnd: (outcome: RequestOutcome, mayRepeat: boolean) => void): ClientRequest {
    const url = new URL(given.url);
    const isHttps = url.protocol === "https:";
    const request = (isHttps ? requestHttps : requestHttp)(url, {
      method: "POST",
      headers: given.headers,
      // A request that breaks off has a separate connection, so other requests are not affected.
      agent: given.breaksOff === undefined ? agents[isHttps ? "https:" : "http:"] : false,
      lookup: lookupFor(url.protocol),
      ca,
    });
    let isAnswered = false;
    request.on("response", (response) => {
      isAnswered = true;
      readAnswer(response, (outcome) => onEnd(outcome, false));
    });
    request.on("error", (error) => {
      const failure = failureOf(error);
      // A receiver that closes an idle connection just when it is reused has not read the request, so the request can be repeated.
      onEnd({ failure }, request.reusedSocket && failure === "connection_reset");
    });
    // If there was neither an answer nor an error, the receiver switched to another protocol (101).
    request.on("close", () => isAnswered || onEnd({ failure: "answer_unreadable" }, false));
    if (given.breaksOff === undefined) request.end(given.body);
    else breakOff(request, given.body, given.breaksOff);
    return request;
  }

  return {
    send: (given: WebhookRequest, signal: AbortSignal) =>
      new Promise<RequestOutcome>((done) => {
        const url = new URL(given.url);
        const address = addressIn(url);
        if (signal.aborted) return done({ failure: "aborted" });
        if (address !== null && !mayConnect(url.protocol, [address], assumptions)) {
          return done({ failure: "address_refused" });
        }
        let current: ClientRequest | null = null;
        let isDone = false;
        function end(outcome: RequestOutcome): void {
          if (isDone) return;
          isDone = true;
          timer.cancel();
          signal.removeEventListener("abort", onAbort);
          done(outcome);
          // Otherwise the connection of an incomplete request stays open.
          if (given.breaksOff !== undefined) current?.destroy();
        }
        function cancel(failure: RequestFailure): void {
          end({ failure });
          current?.destroy();
        }
        const onAbort = (): void => cancel("aborted");
        const timeoutMs = given.timeoutMs ?? assumptions.deliveryTimeoutMs;
        const timer = systemClock.setTimeout(() => cancel("timed_out"), timeoutMs);
        signal.addEventListener("abort", onAbort);
        function attempt(isRepeat: boolean): void {
          let hasEnded = false;
          current = begin(given, (outcome, mayRepeat) => {
            if (hasEnded) return;
            hasEnded = true;
            if (mayRepeat && !isRepeat && !isDone) attempt(true);
            else end(outcome);
          });
        }
        try {
          attempt(false);
        } catch (error) {
          // Node throws for some urls and headers.
          end({ failure: error instanceof Error ? failureOf(error) : "unreachable" });
        }
      }),
    /** Closes the idle connections. */
    close() {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

function readAnswer(response: IncomingMessage, onEnd: (outcome: RequestOutcome) => void): void {
  const chunks: Buffer[] = [];
  let size = 0;
  const answered = (): void =>
    onEnd({
      status: response.statusCode ?? 0,
      headers: Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, String(value)])),
      body: Buffer.concat(chunks).subarray(0, ANSWER_LIMIT_BYTES),
    });
  response.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size <= ANSWER_LIMIT_BYTES) return;
    answered();
    response.destroy();
  });
  response.on("end", answered);
  response.on("error", (error) => onEnd({ failure: failureOf(error) }));
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
