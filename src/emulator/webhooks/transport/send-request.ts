import { Agent as HttpAgent, request as requestHttp, type ClientRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import { TLSSocket } from "node:tls";
import { systemClock } from "../../../time/clock.js";
import type { Assumptions } from "../../instance/assumptions.js";
import { addressIn, mayConnect } from "../registrations/endpoint-rules.js";
import { ADDRESS_REFUSED, createCheckedLookup, type ResolveName } from "./resolve-name.js";

/** Why a request got no answer; `address_refused` and `aborted` are the emulator's own doing. */
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

/** The outcome of one request. */
export type RequestOutcome =
  { status: number; headers: Record<string, string>; body: Buffer } | { failure: RequestFailure };

export interface WebhookRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  /** In real time. @default the assumption `deliveryTimeoutMs` */
  timeoutMs?: number | undefined;
  /** Ends the connection in the middle of the body, as a proxy or a broken cable may. */
  breaksOff?: "cut_body" | "reset" | undefined;
}

/** Makes one POST; never rejects, and follows no redirect. */
export type SendRequest = (request: WebhookRequest, signal: AbortSignal) => Promise<RequestOutcome>;

/** Sends requests over connections that are reused. */
export interface RequestSender {
  send: SendRequest;
  /** Closes the connections that are idle. */
  close(): void;
}

export interface RequestSenderOptions {
  assumptions: Pick<Assumptions, "deliveryTimeoutMs" | "allowLoopbackHttp">;
  /** @default the system's resolver */
  resolve?: ResolveName | undefined;
  /** The only certificates of authorities to trust, PEM. @default those that Node trusts */
  ca?: string | undefined;
}

/** The rest of an answer's body is not read. */
export const ANSWER_LIMIT_BYTES = 16_384;

/**
 * The sender of deliveries. Addresses are checked where the connection is made, so a name cannot change its address in
 * between. The time-out is in real time, from the look-up of the name to the last byte of the answer.
 */
export function createRequestSender({ assumptions, resolve, ca }: RequestSenderOptions): RequestSender {
  const agents = { "http:": new HttpAgent({ keepAlive: true }), "https:": new HttpsAgent({ keepAlive: true }) };
  const lookupFor = createCheckedLookup(resolve, assumptions);

  /** @param onEnd called once */
  function begin(given: WebhookRequest, onEnd: (outcome: RequestOutcome, mayRepeat: boolean) => void): ClientRequest {
    const url = new URL(given.url);
    const isHttps = url.protocol === "https:";
    const request = (isHttps ? requestHttps : requestHttp)(url, {
      method: "POST",
      headers: given.headers,
      // A request that breaks off has a connection of its own, so it breaks no other request.
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
      // The receiver may close an idle connection at the moment of its reuse. Then it has not seen the request.
      onEnd({ failure }, request.reusedSocket && failure === "connection_reset");
    });
    // Closed without an answer and without an error: the other side switched to another protocol (101).
    request.on("close", () => isAnswered || onEnd({ failure: "answer_unreadable" }, false));
    if (given.breaksOff === undefined) request.end(given.body);
    else breakOff(request, given.body, given.breaksOff);
    return request;
  }

  return {
    send: (given, signal) =>
      new Promise((done) => {
        const url = new URL(given.url);
        const address = addressIn(url);
        if (signal.aborted) return done({ failure: "aborted" });
        if (address !== null && !mayConnect(url.protocol, [address], assumptions)) {
          return done({ failure: "address_refused" });
        }
        let current: ClientRequest | null = null;
        let isOver = false;
        function end(outcome: RequestOutcome): void {
          if (isOver) return;
          isOver = true;
          timer.cancel();
          signal.removeEventListener("abort", onAbort);
          done(outcome);
          // Nothing else ends the connection of half a request.
          if (given.breaksOff !== undefined) current?.destroy();
        }
        function giveUp(failure: RequestFailure): void {
          end({ failure });
          current?.destroy();
        }
        const onAbort = (): void => giveUp("aborted");
        const timer = systemClock.setTimeout(
          () => giveUp("timed_out"),
          given.timeoutMs ?? assumptions.deliveryTimeoutMs,
        );
        signal.addEventListener("abort", onAbort);
        function attempt(isRepeat: boolean): void {
          let hasEnded = false;
          current = begin(given, (outcome, mayRepeat) => {
            if (hasEnded) return;
            hasEnded = true;
            if (mayRepeat && !isRepeat && !isOver) attempt(true);
            else end(outcome);
          });
        }
        try {
          attempt(false);
        } catch (error) {
          // Node refuses to make some requests.
          end({ failure: error instanceof Error ? failureOf(error) : "unreachable" });
        }
      }),
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

/** Sends the first half of the body, then ends the connection: properly, or so that the other side gets an error. */
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
