import { CODE_FAULTS, faultOfStatus } from "./answer-faults.js";
import type { Subject } from "./examination.js";
import { blocker, ok, type Finding } from "./finding.js";
import { verdictOf, type Reply } from "./probe.js";

/** Is what answers a receiver, and does it get to look at the signature? */
export function examineAnswer({ facts }: Subject): Finding[] {
  const reply = facts.contact as Reply;
  const { answer, headers, code } = reply;
  const status = answer.kind === "answer" ? answer.status : 0;
  if (verdictOf(reply) !== "unclear") {
    return [
      ok("receiver_answers", `a receiver answers: ${status} ${reply.isVerified ? "challenge" : (code ?? "")}`.trim()),
    ];
  }
  const fault = code === null ? undefined : CODE_FAULTS.get(code);
  return [fault === undefined ? faultOfStatus(status, headers) : blocker(...fault)];
}
