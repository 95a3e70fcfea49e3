import { randomBytes } from "node:crypto";
import { describeAnswer, isRefusal, isSuccess, type Answer } from "../../deliveries/answer.js";
import { bodyVariants } from "../../diagnosis/body-variants.js";
import { secretMistakes } from "../../diagnosis/secret-mistakes.js";
import type { Subject } from "./examination.js";
import { blocker, ok, problem, warning, type Finding } from "./findings.js";
import { verdictOf, verificationBody } from "./probe.js";

const TEN_MINUTES_AGO_SECONDS = -600;

export async function examineForgery({ send, facts }: Subject): Promise<Finding[]> {
  const { answer, code } = await send({ body: verificationBody(), key: randomBytes(32) });
  facts.isSignalbox = code === "signature_mismatch";
  if (isRefusal(answer)) return [ok("forgery_refused", "a forged signature is refused")];
  if (!isSuccess(answer)) return [unexpected("a forged signature", answer)];
  const fix = "Take no delivery whose signature was not verified over its raw bytes: expressHandler(receiver) does so.";
  return [blocker("forgery_accepted", "a forged signature is accepted: anyone can post signals", fix)];
}

export async function examineStaleness({ send, facts }: Subject): Promise<Finding[]> {
  const reply = await send({ body: verificationBody(), skewSeconds: TEN_MINUTES_AGO_SECONDS });
  const { answer } = reply;
  // The bytes are changed on their way, which the next examinations are about. This answer says nothing about the age.
  if (facts.isSignalbox === true && verdictOf(reply) === "mismatched") return [];
  if (isRefusal(answer)) return [ok("stale_refused", "a signature that is 10 minutes old is refused")];
  if (!isSuccess(answer)) return [unexpected("a signature that is 10 minutes old", answer)];
  const fix = "Leave toleranceSeconds at 300, as the service's document has it: a captured delivery can be sent again.";
  return [problem("stale_accepted", "a signature that is 10 minutes old is accepted", fix)];
}

function unexpected(what: string, answer: Answer): Finding {
  const found = `${what} is not refused with 4xx but gets: ${describeAnswer(answer, false)}`;
  return warning("answer_unexpected", found, "See which program answers that, and look at its log.");
}

/**
 * Does the receiver have this secret? Its answers say only whether a signature fits its key and the bytes that arrived. So a
 * probe is signed with the key that each usual mistake would give the receiver: the one that it accepts is the mistake.
 */
export async function examineSecret(subject: Subject): Promise<Finding[]> {
  const { secrets, facts } = subject;
  const known: number[] = [];
  for (const [index, key] of secrets.entries()) {
    if (await isKeyOf(subject, key)) known.push(index);
  }
  const [first] = known;
  if (first === undefined) return [await explainMismatch(subject)];
  facts.key = secrets[first] as string;
  if (known.length === secrets.length) {
    return [
      ok("secret", secrets.length === 1 ? "the receiver knows the secret" : "the receiver knows all of the secrets"),
    ];
  }
  const unknown = [...secrets.keys()].filter((index) => !known.includes(index)).map((index) => index + 1);
  const which = `${unknown.length === 1 ? "secret" : "secrets"} ${unknown.join(", ")} of ${secrets.length}`;
  const fix = "Pass it to createReceiver too (secrets takes an array), or leave it out here if it is an old one.";
  return [warning("secret_partly_known", `the receiver does not know ${which}`, fix)];
}

async function explainMismatch(subject: Subject): Promise<Finding> {
  const { secrets, facts } = subject;
  for (const secret of secrets) {
    if (await isKeyForEmptyBody(subject, secret)) return isRight(subject, secret);
  }
  for (const { key, id, found, fix } of secrets.flatMap((secret) => secretMistakes(secret, "receiver"))) {
    if (!(await isKeyForEmptyBody(subject, key)) && !(await isKeyOf(subject, key))) continue;
    facts.key = key;
    return problem(id, found, fix);
  }
  // A right secret looks wrong where the body is changed on its way.
  for (const secret of secrets) {
    if (await isKeyOfChangedBody(subject, secret)) return isRight(subject, secret);
  }
  const fix =
    "Compare both with the secret that the service showed (`printenv SIGNALS_SECRET | sha256sum` on both sides): it may be " +
    "another registration's, another environment's, or from before a rotation.";
  const which =
    secrets.length === 1
      ? "the secret given here is not the receiver's"
      : "none of the secrets given here is the receiver's";
  // The codes of signalbox say that the signature does not match. A bare 401 may come from any program.
  const other = facts.isSignalbox === true ? "" : " Or a gateway before the receiver refuses every request with 401.";
  return blocker("secret_unknown", which, fix + other);
}

function isRight({ facts }: Subject, secret: string): Finding {
  facts.key = secret;
  return ok("secret", "the receiver knows the secret, and gets other bytes than those that were signed");
}

async function isKeyOf({ send }: Subject, key: string | Buffer): Promise<boolean> {
  return verdictOf(await send({ body: verificationBody(), key })) === "matched";
}

/** Nothing on the way can change an empty body. Another receiver than signalbox might fail on it. */
async function isKeyForEmptyBody({ send, facts }: Subject, key: string | Buffer): Promise<boolean> {
  if (facts.isSignalbox !== true) return false;
  return verdictOf(await send({ body: Buffer.alloc(0), key })) === "matched";
}

async function isKeyOfChangedBody({ send }: Subject, key: string): Promise<boolean> {
  const body = verificationBody();
  for (const { body: signed } of bodyVariants(body)) {
    if (verdictOf(await send({ body, signed, key })) === "matched") return true;
  }
  return false;
}
