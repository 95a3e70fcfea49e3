import type { LookupAddress } from "node:dns";
import { lookup as lookUp } from "node:dns/promises";
import type { ClientRequest } from "node:http";
import { isIPv6, type LookupFunction } from "node:net";
import { TLSSocket } from "node:tls";
import { exchange, failureOf, type ExchangeFailure } from "../../../../base/http/exchange.js";
import type { Assumptions } from "../../instance/assumption-options.js";
import { addressIn, mayConnect, type EndpointRules } from "../registrations/endpoint-rules.js";

/** Why a request got no answer. The emulator itself ended the last two. */
export type RequestFailure = ExchangeFailure | "address_refused" | "aborted";

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

interface RequestSenderOptions {
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
  return async (
    { url: address, headers, body, timeoutMs = assumptions.deliveryTimeoutMs, breaksOff },
    signal,
  ) => {
    const url = new URL(address);
    const ip = addressIn(url);
    if (ip !== null && !mayConnect(url.protocol, [ip], assumptions))
      return { failure: "address_refused" };
    const lookup = lookupFor(url.protocol);
    const how = { method: "POST", headers, lookup, ca, signal, timeoutMs };
    const answer = await exchange(url, { ...how, maxAnswerBytes: ANSWER_LIMIT_BYTES }, (request) =>
      breaksOff === undefined ? request.end(body) : breakOff(request, body, breaksOff),
    );
    if (answer.kind === "answer") {
      const texts = Object.entries(answer.headers).map(([name, value]) => [name, String(value)]);
      const { status, body: answered } = answer;
      return {
        status,
        headers: Object.fromEntries(texts) as Record<string, string>,
        body: answered,
      };
    }
    if (signal.aborted) return { failure: "aborted" };
    const { code } = answer;
    return { failure: code === ADDRESS_REFUSED ? "address_refused" : failureOf(code) };
  };
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

/** Returns all addresses of a name. Rejects when there are none. */
export type ResolveName = (name: string) => Promise<readonly string[]>;

/** The code of the error for a name that resolves to a forbidden address. */
const ADDRESS_REFUSED = "ADDRESS_REFUSED";

const resolveBySystem: ResolveName = async (name) =>
  (await lookUp(name, { all: true })).map(({ address }) => address);

/**
 * Makes the `lookup` option of requests. The look-up fails if {@link mayConnect} forbids the name's
 * addresses. Otherwise the connection uses one of the checked addresses.
 */
function createCheckedLookup(
  resolve: ResolveName = resolveBySystem,
  rules: EndpointRules,
): (protocol: string) => LookupFunction {
  async function find(name: string, protocol: string): Promise<LookupAddress[]> {
    const addresses = await resolve(name);
    if (!mayConnect(protocol, addresses, rules)) {
      throw Object.assign(new Error("The name resolves to a forbidden address."), {
        code: ADDRESS_REFUSED,
      });
    }
    return addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  }

  // `setImmediate` calls the callback outside of the promise, so an error that the callback throws
  // does not count as a failed look-up.
  return (protocol) => (name, options, callback) => {
    find(name, protocol).then(
      (found) => {
        if (options.all === true) setImmediate(callback, null, found);
        else setImmediate(callback, null, found[0]?.address ?? "", found[0]?.family);
      },
      (error: Error) => setImmediate(callback, error, ""),
    );
  };
}
