import { randomBytes } from "node:crypto";
import type { Subject } from "./examination.js";
import { blocker, ok, warning, type Finding } from "./finding.js";
import { isSuccess, verificationEvent } from "./probe.js";

const TEN_MINUTES_AGO_SECONDS = -600;

export async function examineForgery({ send, facts }: Subject): Promise<Finding[]> {
  const body = Buffer.from(JSON.stringify(verificationEvent()));
  const { answer, code } = await send({ body, key: randomBytes(32) });
  facts.isSignalbox = code === "signature_mismatch";
  if (!isSuccess(answer)) return [ok("forgery_refused", "a forged signature is refused")];
  const mend =
    "Take no delivery whose signature was not verified over its raw bytes: expressHandler(receiver) does so.";
  return [blocker("forgery_accepted", "a forged signature is accepted: anybody can post signals", mend)];
}

export async function examineStaleness({ send, facts }: Subject): Promise<Finding[]> {
  const body = Buffer.from(JSON.stringify(verificationEvent()));
  const key = facts.key as string | Buffer;
  const { answer } = await send({ body, key, skewSeconds: TEN_MINUTES_AGO_SECONDS });
  if (!isSuccess(answer)) return [ok("stale_refused", "a signature that is 10 minutes old is refused")];
  const mend =
    "Leave toleranceSeconds at 300, as the service's document has it: a captured delivery can be sent again.";
  return [warning("stale_accepted", "a signature that is 10 minutes old is accepted", mend)];
}
