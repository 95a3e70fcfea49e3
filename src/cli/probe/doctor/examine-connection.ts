import {
  addressKind,
  isLoopbackHost,
  type AddressKind,
} from "../../../base/addresses/address-kind.js";
import { formatAge } from "../../../base/text/format.js";
import { DEFAULT_TOLERANCE_SECONDS } from "../../../kit/senders/signature/verify.js";
import { LONGEST_ENDPOINT_URL } from "../../../service/contract/webhook-registration.js";
import { errorCode } from "../../console/exit.js";
import { explainAnswer } from "../../deliveries/explain-answer.js";
import {
  blocker,
  finding,
  verdictOf,
  verificationBody,
  type Finding,
  type Reply,
  type Subject,
} from "./examination.js";

export function examineUrl({ url }: Subject): Finding[] {
  const found = [...urlFaults(url)];
  return found.length > 0 ? found : [finding("url_form")];
}

function* urlFaults({ protocol, hostname, href, username, password, hash }: URL) {
  const { length } = href;
  const most = LONGEST_ENDPOINT_URL;
  if (protocol !== "https:") {
    const level = isLoopbackHost(hostname) ? "warning" : "problem";
    yield { ...finding("url_not_https"), level } as const;
  }
  if (length > most) yield finding("url_too_long", { length, most });
  if (username !== "" || password !== "") yield finding("url_has_credentials");
  if (hash !== "") yield finding("url_has_fragment");
}

export async function examineHost({ url, surroundings }: Subject): Promise<Finding[]> {
  const host = url.hostname.replaceAll(/^\[|\]$/g, "");
  let addresses: readonly string[];
  try {
    addresses = await surroundings.resolve(host);
  } catch (error) {
    return [finding("name_not_found", { host, code: errorCode(error) })];
  }
  const kinds = new Map<AddressKind, string>(
    addresses.map((address) => [addressKind(address), address]),
  );
  const internal = [...kinds].filter(([kind]) => kind !== "public" && kind !== "loopback");
  if (internal.length > 0) {
    const list = internal.map(([kind, address]) => `${address} (${kind})`).join(", ");
    return [finding("address_private", { host, list })];
  }
  if (kinds.has("loopback")) return [finding("address_local", { host })];
  return [finding("address_public", { host, list: addresses.join(", ") })];
}

export async function examineConnection(subject: Subject): Promise<Finding[]> {
  return connected(subject, await subject.send({ body: verificationBody() }));
}

/** What the first reply says about the way to the receiver. */
export function connected({ timeoutMs, facts }: Subject, reply: Reply): Finding[] {
  const { answer } = reply;
  if (answer.kind !== "answer") return [blocker(explainAnswer(answer, timeoutMs))];
  facts.contact = reply;
  return [finding("connected", { status: answer.status, ms: Math.round(answer.ms) })];
}

/**
 * Checks that a receiver answers, and that the request reaches the code that verifies its
 * signature.
 */
export function examineAnswer({ facts, timeoutMs }: Subject): Finding[] {
  const reply = facts.contact as Reply;
  const { answer, code } = reply;
  if (verdictOf(reply) === "unclear") return [blocker(explainAnswer(answer, timeoutMs))];
  const status = answer.kind === "answer" ? answer.status : 0;
  const outcome = reply.isVerified ? "challenge" : (code ?? "");
  return [finding("receiver_answers", { answered: `${status} ${outcome}`.trim() })];
}

/** A smaller difference between the clocks is ignored. */
const WORTH_A_WARNING_SECONDS = 30;

/**
 * Compares the clocks by the answer's Date header. A proxy may have set it, or the receiver may use
 * a custom clock. So what the receiver answered to a signature that was made now counts for more.
 */
export function examineClock({ facts }: Subject): Finding[] {
  const reply = facts.contact as Reply;
  const ahead = secondsAhead(reply);
  const isOff = ahead !== null && Math.abs(ahead) > WORTH_A_WARNING_SECONDS;
  const difference = isOff
    ? `according to its Date header, the receiver is ${formatAge(ahead * 1000)} ${ahead < 0 ? "behind" : "ahead of"} this machine`
    : "its Date header does not show a difference";
  const tolerance = DEFAULT_TOLERANCE_SECONDS;
  if (reply.code === "timestamp_out_of_tolerance") {
    const refused = `the receiver refuses a signature that was made now; ${difference}`;
    return [{ ...finding("clock_skewed", { difference: refused, tolerance }), blocks: true }];
  }
  if (isOff) {
    const isAccepted = Math.abs(ahead) <= tolerance || verdictOf(reply) === "matched";
    const level = isAccepted ? "warning" : "problem";
    return [{ ...finding("clock_skewed", { difference, tolerance }), level }];
  }
  return [finding(ahead === null ? "clock:unknown" : "clock")];
}

/**
 * Null without a valid Date header. The header is rounded down to whole seconds, so half a second
 * is added.
 */
function secondsAhead({ headers, at }: Reply): number | null {
  const date = Date.parse(headers.date ?? "");
  return Number.isNaN(date) ? null : Math.round((date + 500 - at) / 1000);
}
