import {
  addressKind,
  isLoopbackHost,
  type AddressKind,
} from "../../../base/addresses/address-kind.js";
import { formatAge } from "../../../base/text/format.js";
import { DEFAULT_TOLERANCE_SECONDS } from "../../../kit/senders/signature/verify.js";
import { LONGEST_ENDPOINT_URL } from "../../../service/contract/webhook-registration.js";
import { errorCode } from "../../console/exit.js";
import { explainAnswer, type Fault } from "../../deliveries/explain-answer.js";
import {
  blocker,
  ok,
  problem,
  verdictOf,
  verificationBody,
  warning,
  type Finding,
  type Reply,
  type Subject,
} from "./examination.js";

export function examineUrl({ url }: Subject): Finding[] {
  const found = [...urlFaults(url)];
  return found.length > 0 ? found : [ok("url_form", "https, as the service requires")];
}

function* urlFaults(url: URL): Generator<Finding> {
  if (url.protocol !== "https:") {
    const fix =
      "Register an https address: put a proxy with a certificate in front of the receiver.";
    const found = "the URL is http, and the service registers only https";
    yield (isLoopbackHost(url.hostname) ? warning : problem)("url_not_https", found, fix);
  }
  if (url.href.length > LONGEST_ENDPOINT_URL) {
    const found = `the URL has ${url.href.length} characters, and the service allows ${LONGEST_ENDPOINT_URL}`;
    yield problem("url_too_long", found, "Mount the receiver on a shorter path.");
  }
  if (url.username !== "" || url.password !== "") {
    const fix = "Leave them out: deliveries are signed and need no password.";
    yield warning(
      "url_has_credentials",
      "the URL has a user name or a password, which the sender might not send",
      fix,
    );
  }
  if (url.hash !== "") {
    yield warning(
      "url_has_fragment",
      "the part of the URL after # is never sent",
      "Leave that part out.",
    );
  }
}

const FIX_PRIVATE =
  "Give the name a public address, or use a proxy or tunnel with a public address: the sender calls from the internet.";

export async function examineHost({ url, surroundings }: Subject): Promise<Finding[]> {
  const host = url.hostname.replaceAll(/^\[|\]$/g, "");
  let addresses: readonly string[];
  try {
    addresses = await surroundings.resolve(host);
  } catch (error) {
    const fix =
      "Check the spelling of the name, and its A and AAAA records (`dig`). A new record becomes visible only after some time.";
    return [blocker("name_not_found", `${host} has no address (${errorCode(error)})`, fix)];
  }
  const kinds = new Map<AddressKind, string>(
    addresses.map((address) => [addressKind(address), address]),
  );
  const internal = [...kinds].filter(([kind]) => kind !== "public" && kind !== "loopback");
  if (internal.length > 0) {
    const list = internal.map(([kind, address]) => `${address} (${kind})`).join(", ");
    return [
      problem(
        "address_private",
        `${host} has an address that the sender cannot reach: ${list}`,
        FIX_PRIVATE,
      ),
    ];
  }
  if (kinds.has("loopback")) {
    const found = `${host} is this machine: enough for a trial, but the sender cannot reach this machine`;
    return [warning("address_local", found, FIX_PRIVATE)];
  }
  return [ok("address_public", `${host} is ${addresses.join(", ")}`)];
}

export async function examineConnection(subject: Subject): Promise<Finding[]> {
  return connected(subject, await subject.send({ body: verificationBody() }));
}

/** What the first reply says about the way to the receiver. */
export function connected({ timeoutMs, facts }: Subject, reply: Reply): Finding[] {
  const { answer } = reply;
  if (answer.kind !== "answer") return [blockerOf(explainAnswer(answer, timeoutMs))];
  facts.contact = reply;
  return [ok("connected", `a server answers: ${answer.status} in ${Math.round(answer.ms)} ms`)];
}

/**
 * Checks that a receiver answers, and that the request reaches the code that verifies its
 * signature.
 */
export function examineAnswer({ facts, timeoutMs }: Subject): Finding[] {
  const reply = facts.contact as Reply;
  const { answer, code } = reply;
  if (verdictOf(reply) === "unclear") return [blockerOf(explainAnswer(answer, timeoutMs))];
  const status = answer.kind === "answer" ? answer.status : 0;
  const outcome = reply.isVerified ? "challenge" : (code ?? "");
  return [ok("receiver_answers", `a receiver answers: ${status} ${outcome}`.trim())];
}

export function blockerOf({ id, found, fix }: Fault): Finding {
  return blocker(id, found, fix);
}

/** A smaller difference between the clocks is ignored. */
const WORTH_A_WARNING_SECONDS = 30;

const FIX_CLOCK =
  "Set both clocks by NTP (compare them with `timedatectl` or `date -u`), because the receiver refuses a signature whose " +
  `timestamp differs from its own clock by more than ${DEFAULT_TOLERANCE_SECONDS} s. If it uses the option \`clock\`, check that clock too.`;

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
  if (reply.code === "timestamp_out_of_tolerance") {
    return [
      blocker(
        "clock_skewed",
        `the receiver refuses a signature that was made now; ${difference}`,
        FIX_CLOCK,
      ),
    ];
  }
  if (isOff) {
    const isAccepted =
      Math.abs(ahead) <= DEFAULT_TOLERANCE_SECONDS || verdictOf(reply) === "matched";
    return [(isAccepted ? warning : problem)("clock_skewed", difference, FIX_CLOCK)];
  }
  const same = "the answer's Date header shows no difference between the clocks";
  return [ok("clock", ahead === null ? "the answer has no Date header to compare with" : same)];
}

/**
 * Null without a valid Date header. The header is rounded down to whole seconds, so half a second
 * is added.
 */
function secondsAhead({ headers, at }: Reply): number | null {
  const date = Date.parse(headers.date ?? "");
  return Number.isNaN(date) ? null : Math.round((date + 500 - at) / 1000);
}
