import { DEFAULT_TOLERANCE_SECONDS } from "../../../kit/senders/signature/verify.js";
import { formatAge } from "../../../base/text/format.js";
import { explainAnswer, type Fault } from "../../deliveries/explain-answer.js";
import {
  blocker,
  ok,
  problem,
  warning,
  type Finding,
  type Reply,
  type Subject,
} from "./examination.js";
import { verdictOf, verificationBody } from "./probe.js";

export async function examineConnection(subject: Subject): Promise<Finding[]> {
  return connected(subject, await subject.send({ body: verificationBody() }));
}

/** What the first reply says about the way to the receiver. */
export function connected({ timeoutMs, facts }: Subject, reply: Reply): Finding[] {
  const { answer } = reply;
  if (answer.kind !== "answer") return [faultAsBlocker(explainAnswer(answer, timeoutMs))];
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
  if (verdictOf(reply) === "unclear") return [faultAsBlocker(explainAnswer(answer, timeoutMs))];
  const status = answer.kind === "answer" ? answer.status : 0;
  const outcome = reply.isVerified ? "challenge" : (code ?? "");
  return [ok("receiver_answers", `a receiver answers: ${status} ${outcome}`.trim())];
}

function faultAsBlocker({ id, found, fix }: Fault): Finding {
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
