import { DEFAULT_TOLERANCE_SECONDS } from "../../../signature/verify.js";
import { formatAge } from "../../../text/format.js";
import type { Reply, Subject } from "./examination.js";
import { blocker, ok, problem, warning, type Finding } from "./findings.js";
import { verdictOf, verificationBody } from "./probe.js";

/** A smaller difference between the clocks is ignored. */
const WORTH_A_WARNING_SECONDS = 30;
/** If the clocks differ by less than 30 s, the receiver accepts a signature that is this old, or this far in the future. */
const NEARLY_TOO_OLD_SECONDS = DEFAULT_TOLERANCE_SECONDS - WORTH_A_WARNING_SECONDS;

const AGREE = "the clocks of the receiver and this machine agree";
const FIX =
  "Set both clocks by NTP (compare them with `timedatectl` or `date -u`), because the receiver refuses a signature whose " +
  `timestamp differs from its own clock by more than ${DEFAULT_TOLERANCE_SECONDS} s. If it uses the option \`clock\`, check that clock too.`;

/**
 * Compares the clocks by the answer's Date header. That header may show a wrong clock: a proxy may have set it, or the receiver
 * may use a custom clock. So this function also tries signatures that are nearly too old or too early.
 */
export async function examineClock(subject: Subject): Promise<Finding[]> {
  const reply = subject.facts.contact as Reply;
  const ahead = secondsAhead(reply);
  const isOff = ahead !== null && Math.abs(ahead) > WORTH_A_WARNING_SECONDS;
  const difference = isOff
    ? `according to its Date header, the receiver is ${formatAge(ahead * 1000)} ${ahead < 0 ? "behind" : "ahead of"} this machine`
    : "its Date header does not show a difference";
  if (reply.code === "timestamp_out_of_tolerance") {
    return [blocker("clock_skewed", `the receiver refuses a signature that was made now; ${difference}`, FIX)];
  }
  if (isOff) {
    const isAccepted = Math.abs(ahead) <= DEFAULT_TOLERANCE_SECONDS || verdictOf(reply) === "matched";
    return [(isAccepted ? warning : problem)("clock_skewed", difference, FIX)];
  }
  if (reply.isVerified) return [await tryEdges(subject)];
  return [ok("clock", ahead === null ? "the answer has no Date header to compare with" : AGREE)];
}

async function tryEdges({ send }: Subject): Promise<Finding> {
  const isRefused = async (skewSeconds: number): Promise<boolean> => {
    const reply = await send({ body: verificationBody(), skewSeconds });
    return reply.code === "timestamp_out_of_tolerance" || verdictOf(reply) === "mismatched";
  };
  const old = await isRefused(-NEARLY_TOO_OLD_SECONDS);
  const early = await isRefused(NEARLY_TOO_OLD_SECONDS);
  if (old && early)
    return ok("clock", `the clocks agree; the tolerance of the receiver is below ${DEFAULT_TOLERANCE_SECONDS} s`);
  if (!old && !early) return ok("clock", AGREE);
  const found =
    `the receiver refuses a signature that is ${NEARLY_TOO_OLD_SECONDS} s ${old ? "old" : "early"}, so its clock is more than ` +
    `${WORTH_A_WARNING_SECONDS} s ${old ? "ahead of" : "behind"} this machine; its Date header does not show that`;
  return warning("clock_skewed", found, FIX);
}

/** Null without a valid Date header. The header is rounded down to whole seconds, so half a second is added. */
function secondsAhead({ headers, at }: Reply): number | null {
  const date = Date.parse(headers.date ?? "");
  return Number.isNaN(date) ? null : Math.round((date + 500 - at) / 1000);
}
