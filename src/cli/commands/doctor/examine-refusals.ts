import { randomBytes } from "node:crypto";
import type { Subject } from "./examination.js";
import { blocker, ok, problem, warning, type Finding } from "./finding.js";
import { describeAnswer } from "../../deliveries/compare-answer.js";
import type { Answer } from "../../deliveries/send-delivery.js";
import { isRefusal, isSuccess, verdictOf, verificationEvent } from "./probe.js";

const TEN_MINUTES_AGO_SECONDS = -600;

export async function examineForgery({ send, facts }: Subject): Promise<Finding[]> {
  const body = Buffer.from(JSON.stringify(verificationEvent()));
  const { answer, code } = await send({ body, key: randomBytes(32) });
  facts.isSignalbox = code === "signature_mismatch";
  if (isRefusal(answer)) return [ok("forgery_refused", "a forged signature is refused")];
  if (!isSuccess(answer)) return [unexpected("a forged signature", answer)];
  const mend =
    "Take no delivery whose signature was not verified over its raw bytes: expressHandler(receiver) does so.";
  return [blocker("forgery_accepted", "a forged signature is accepted: anybody can post signals", mend)];
}

export async function examineStaleness({ send, facts }: Subject): Promise<Finding[]> {
  const body = Buffer.from(JSON.stringify(verificationEvent()));
  const key = facts.key as string | Buffer;
  const reply = await send({ body, key, skewSeconds: TEN_MINUTES_AGO_SECONDS });
  const { answer } = reply;
  // Something changes the bytes, which the next examinations look into: of its age nothing was said.
  if (facts.isSignalbox === true && verdictOf(reply) === "mismatched") return [];
  if (isRefusal(answer)) return [ok("stale_refused", "a signature that is 10 minutes old is refused")];
  if (!isSuccess(answer)) return [unexpected("a signature that is 10 minutes old", answer)];
  const mend =
    "Leave toleranceSeconds at 300, as the service's document has it: a captured delivery can be sent again.";
  return [problem("stale_accepted", "a signature that is 10 minutes old is accepted", mend)];
}

function unexpected(what: string, answer: Answer): Finding {
  const found = `${what} is not refused with 4xx but gets: ${describeAnswer(answer, false)}`;
  return warning("answer_unexpected", found, "See which program answers that, and look at its log.");
}
