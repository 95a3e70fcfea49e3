import { DEFAULT_TOLERANCE_SECONDS } from "../../../signature/verify.js";
import { formatAge } from "../../console/age.js";
import type { Reply, Subject } from "./examination.js";
import { blocker, ok, problem, warning, type Finding } from "./findings.js";
import { verdictOf, verificationBody } from "./probe.js";

/** Below it a clock is right enough. */
const WORTH_A_WARNING_SECONDS = 30;
/** A receiver with such a clock accepts a signature that is so old, and one that is so early. */
const NEARLY_TOO_OLD_SECONDS = DEFAULT_TOLERANCE_SECONDS - WORTH_A_WARNING_SECONDS;

const FIX =
  "Set both clocks by NTP (`timedatectl` and `date -u` show them): the receiver refuses a signature that is over 300 s " +
  "old or early by its own clock. Look at its option `clock` too, if it is given one.";

/**
 * A signature is good for 300 s around the receiver's clock. The answer's Date header shows a clock, but a proxy may have set
 * it, or the receiver may be given another clock. So signatures near the edges are tried out too.
 */
export async function examineClock(subject: Subject): Promise<Finding[]> {
  const reply = subject.facts.contact as Reply;
  const ahead = secondsAhead(reply);
  if (reply.code === "timestamp_out_of_tolerance") return [refusesNow(ahead)];
  if (ahead !== null && Math.abs(ahead) > WORTH_A_WARNING_SECONDS) return [fromHeader(ahead, reply)];
  if (reply.isVerified) return [await tryEdges(subject)];
  if (ahead === null) return [ok("clock", "the answer has no Date header to compare with")];
  return [ok("clock", "the clocks of the receiver and this machine agree; a signature may be 300 s off")];
}

function refusesNow(ahead: number | null): Finding {
  const found = "the receiver refuses a signature that was made now";
  if (ahead === null) return blocker("clock_skewed", found, FIX);
  const isSeen = Math.abs(ahead) > WORTH_A_WARNING_SECONDS;
  const why = isSeen ? `it is ${describe(ahead)} this machine` : "its Date header agrees with this machine";
  return blocker("clock_skewed", `${found}: ${why}`, FIX);
}

function fromHeader(ahead: number, reply: Reply): Finding {
  const found = `the receiver is ${describe(ahead)} this machine`;
  if (Math.abs(ahead) <= DEFAULT_TOLERANCE_SECONDS) return warning("clock_skewed", found, FIX);
  if (verdictOf(reply) !== "matched") return problem("clock_skewed", found, FIX);
  // A proxy may have set the header, or the receiver may have another tolerance.
  return warning("clock_skewed", `${found} by its Date header, and still took a signature made now`, FIX);
}

/** It accepts a signature made now. If its clock were a little off, it would refuse one that is nearly too old or too early. */
async function tryEdges({ send }: Subject): Promise<Finding> {
  const isRefused = async (skewSeconds: number): Promise<boolean> => {
    const reply = await send({ body: verificationBody(), skewSeconds });
    return reply.code === "timestamp_out_of_tolerance" || verdictOf(reply) === "mismatched";
  };
  const old = await isRefused(-NEARLY_TOO_OLD_SECONDS);
  const early = await isRefused(NEARLY_TOO_OLD_SECONDS);
  if (old && early) {
    const found = `the receiver takes no signature that is ${NEARLY_TOO_OLD_SECONDS} s old or early: its tolerance is below 300 s`;
    return ok("clock", found);
  }
  if (old || early) {
    const found =
      `the receiver refuses a signature that is ${NEARLY_TOO_OLD_SECONDS} s ${old ? "old" : "early"}: its clock is over ` +
      `${WORTH_A_WARNING_SECONDS} s ${old ? "ahead of" : "behind"} this machine, whatever its Date header says`;
    return warning("clock_skewed", found, FIX);
  }
  return ok("clock", "the clocks of the receiver and this machine agree; a signature may be 300 s off");
}

/** Null without a usable Date header. It has whole seconds, rounded down. */
function secondsAhead({ headers, at }: Reply): number | null {
  const date = Date.parse(headers.date ?? "");
  return Number.isNaN(date) ? null : Math.round((date + 500 - at) / 1000);
}

function describe(ahead: number): string {
  return `${formatAge(ahead * 1000)} ${ahead < 0 ? "behind" : "ahead of"}`;
}
