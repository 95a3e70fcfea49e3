import { explainAnswer, type Fault } from "../../diagnosis/explain-answer.js";
import { blocker, ok, type Finding, type Reply, type Subject } from "./examination.js";
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

/** Checks that a receiver answers, and that the request reaches the code that verifies its signature. */
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
