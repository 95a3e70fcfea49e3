import { DEFAULT_TOLERANCE_SECONDS } from "../../../signature/verify.js";
import { formatAge } from "../../console/age.js";
import type { Subject } from "./examination.js";
import { blocker, ok, problem, warning, type Finding } from "./finding.js";
import { verdictOf, verificationEvent, type Reply } from "./probe.js";

/** Below it a clock is as right as anybody needs. */
const WORTH_A_WORD_SECONDS = 30;
/** Taken both this old and this early, by a clock that is as right as that. */
const NEARLY_TOO_OLD_SECONDS = DEFAULT_TOLERANCE_SECONDS - WORTH_A_WORD_SECONDS;

const MEND =
  "Set both clocks by NTP (`timedatectl` and `date -u` show them): the receiver refuses a signature that is over 300 s " +
  "old or early by its own clock.";
const MEND_UNSEEN = `${MEND} Look at the option \`clock\` too, if it is given one.`;

/**
 * A signature is good for 300 s around the receiver's clock. What its clock shows stands in the answer's Date header; but
 * a proxy may set that, and the receiver may have a clock of its own, so it is tried out too.
 */
export async function examineClock(subject: Subject): Promise<Finding[]> {
  const reply = subject.facts.contact as Reply;
  const ahead = secondsAhead(reply);
  if (reply.code === "timestamp_out_of_tolerance") return [refusesNow(ahead)];
  if (ahead !== null && Math.abs(ahead) > WORTH_A_WORD_SECONDS) return [fromHeader(ahead, reply)];
  if (reply.isVerified) return [await tryEdges(subject)];
  if (ahead === null) return [ok("clock", "the answer has no Date header to compare with")];
  return [ok("clock", "the clocks of the receiver and this machine agree; a signature may be 300 s off")];
}

function refusesNow(ahead: number | null): Finding {
  const found = "the receiver refuses a signature that was made now";
  if (ahead === null) return blocker("clock_skewed", found, MEND);
  if (Math.abs(ahead) > WORTH_A_WORD_SECONDS) {
    return blocker("clock_skewed", `${found}: it is ${describe(ahead)} this machine`, MEND);
  }
  const why = "its Date header agrees with this machine: it may be a proxy's, or the receiver has a clock of its own";
  return blocker("clock_skewed", `${found}, and ${why}`, MEND_UNSEEN);
}

function fromHeader(ahead: number, reply: Reply): Finding {
  const found = `the receiver is ${describe(ahead)} this machine`;
  if (Math.abs(ahead) <= DEFAULT_TOLERANCE_SECONDS) return warning("clock_skewed", found, MEND);
  if (verdictOf(reply) !== "matched") return problem("clock_skewed", found, MEND);
  // The header may be a proxy's, or the tolerance another.
  return warning("clock_skewed", `${found} by its Date header, and took a signature made now all the same`, MEND);
}

/** It took a signature made now: does it take one that would be too old or too early, were its clock a little off? */
async function tryEdges({ send, secrets }: Subject): Promise<Finding> {
  const isRefused = async (skewSeconds: number): Promise<boolean> => {
    const body = Buffer.from(JSON.stringify(verificationEvent()));
    const reply = await send({ body, key: secrets[0], skewSeconds });
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
      `${WORTH_A_WORD_SECONDS} s ${old ? "ahead of" : "behind"} this machine, whatever its Date header says`;
    return warning("clock_skewed", found, MEND_UNSEEN);
  }
  return ok("clock", "the clocks of the receiver and this machine agree; a signature may be 300 s off");
}

/** Null without a usable Date header. It has whole seconds, cut off. */
function secondsAhead({ headers, at }: Reply): number | null {
  const date = Date.parse(headers.date ?? "");
  return Number.isNaN(date) ? null : Math.round((date + 500 - at) / 1000);
}

function describe(ahead: number): string {
  return `${formatAge(ahead * 1000)} ${ahead < 0 ? "behind" : "ahead of"}`;
}
