import { DEFAULT_TOLERANCE_SECONDS } from "../../signature/verify.js";
import { formatAge } from "../age.js";
import type { Subject } from "./examination.js";
import { blocker, ok, problem, warning, type Finding } from "./finding.js";
import { verdictOf, type Reply } from "./probe.js";

/** Below it a clock is as right as anybody needs. */
const WORTH_A_WORD_SECONDS = 30;

const MEND =
  "Set both clocks by NTP (`timedatectl` and `date -u` show them): the receiver refuses a signature that is over 300 s " +
  "old or early by its own clock.";

/** A signature is good for 300 s around the receiver's clock. What its clock shows stands in the answer's Date header. */
export function examineClock({ facts }: Subject): Finding[] {
  const reply = facts.contact as Reply;
  const ahead = secondsAhead(reply);
  const how = ahead === null ? "" : `: it is ${describe(ahead)} this machine`;
  if (reply.code === "timestamp_out_of_tolerance") {
    return [blocker("clock_skewed", `the receiver refuses a signature that was made now${how}`, MEND)];
  }
  if (ahead === null) return [ok("clock", "the answer has no Date header to compare with")];
  const found = `the receiver is ${describe(ahead)} this machine`;
  if (Math.abs(ahead) > DEFAULT_TOLERANCE_SECONDS) {
    if (verdictOf(reply) !== "matched") return [problem("clock_skewed", found, MEND)];
    // The header may be a proxy's, or the tolerance another.
    return [warning("clock_skewed", `${found} by its Date header, and took a signature made now all the same`, MEND)];
  }
  if (Math.abs(ahead) > WORTH_A_WORD_SECONDS) return [warning("clock_skewed", found, MEND)];
  return [ok("clock", "the clocks of the receiver and this machine agree; a signature may be 300 s off")];
}

/** Null without a usable Date header. It has whole seconds, cut off. */
function secondsAhead({ headers, at }: Reply): number | null {
  const date = Date.parse(headers.date ?? "");
  return Number.isNaN(date) ? null : Math.round((date + 500 - at) / 1000);
}

function describe(ahead: number): string {
  return `${formatAge(ahead * 1000)} ${ahead < 0 ? "behind" : "ahead of"}`;
}
