import type { AnySender } from "../../../senders/sender.js";
import { describeAnswer, errorCodeIn, isSuccess, type Answer } from "../../deliveries/answer.js";
import { sendDelivery } from "../../deliveries/send-delivery.js";
import { bodyVariants } from "../../diagnosis/body-variants.js";
import { explainAnswer } from "../../diagnosis/explain-answer.js";
import type { Reply, Subject } from "./examination.js";
import { blocker, ok, problem, warning, type Finding } from "./findings.js";

/** So old that every receiver refuses it, after it has checked the digest: this proves the secret, and stores nothing. */
const LONG_AGO_MS = 24 * 60 * 60 * 1000;

/** Posts a sample of the sender, signed so long ago that it is not stored. */
async function post(
  { sender, url, secrets, timeoutMs, signal, surroundings }: Subject,
  { secret, isNew = false, sent }: { secret: string; isNew?: boolean; sent?: (body: Buffer) => Buffer },
): Promise<Reply> {
  const known = sender as AnySender;
  const before = surroundings.now();
  const now = before - (isNew ? 0 : LONG_AGO_MS);
  const { body } = known.sample(now);
  const bytes = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  const signed = Object.entries(known.sign(bytes, { secret, now }));
  const type = signed.some(([name]) => name === "content-type") ? [] : [["Content-Type", "application/json"] as const];
  const delivery = { method: "POST", headers: [...type, ...signed], body: sent?.(bytes) ?? bytes, isChunked: false };
  const answer = await sendDelivery(url, delivery, { timeoutMs, signal, secrets });
  const headers = answer.kind === "answer" ? answer.headers : {};
  return { answer, headers, code: errorCodeIn(answer), isVerified: false, at: (before + surroundings.now()) / 2 };
}

/** Whether a forged delivery reaches the code that verifies it, and is refused. */
export async function examineSenderAnswer(subject: Subject): Promise<Finding[]> {
  const [secret = ""] = subject.secrets;
  const reply = await post(subject, { secret, sent: (body) => Buffer.concat([body, Buffer.from(" ")]) });
  subject.facts.contact = reply;
  const { answer, code } = reply;
  // A 401 without a code is from a receiver that signalbox did not make.
  const isRefused = code === "signature_mismatch" || (code === null && isStatus(answer, 401));
  if (isSuccess(answer)) {
    const fix = "Verify the signature of each delivery over its raw bytes, as expressHandler(receiver) does.";
    return [blocker("forgery_accepted", "a forged signature is accepted: anyone can post events", fix)];
  }
  if (isRefused) return [ok("forgery_refused", "a forged signature is refused")];
  const { id, found, fix } = explainAnswer(answer, subject.timeoutMs);
  return [blocker(id, found, fix)];
}

/** Whether the receiver has each secret, and the bytes arrive as they were sent. */
export async function examineSenderSecret(subject: Subject): Promise<Finding[]> {
  const { secrets, sendsTestEvent, sender } = subject;
  const isTimed = signsTime(sender as AnySender);
  if (!isTimed && !sendsTestEvent) {
    const found = `${(sender as AnySender).name} signs no time, so only an event that is stored can show whether the secret is right`;
    return [warning("secret_not_tried", found, "Give --test-event to send the sender's sample, which is stored.")];
  }
  const isRight = ({ answer, code }: Reply): boolean =>
    isTimed ? code === "timestamp_out_of_tolerance" : isSuccess(answer);
  const unknown: number[] = [];
  for (const [index, secret] of secrets.entries()) {
    if (!isRight(await post(subject, { secret, isNew: !isTimed }))) unknown.push(index + 1);
  }
  if (unknown.length === 0) return [ok("secret", "the receiver knows every secret that was given")];
  const [secret = ""] = secrets;
  if (isTimed) {
    const compact = await post(subject, { secret, sent: (body) => bodyVariants(body)[0]?.body ?? body });
    if (isRight(compact)) {
      const fix =
        "Mount the receiver before every parser, and turn off the rewriting of bodies in the proxy in front of it.";
      return [blocker("body_changed", "the body is changed in transit", fix)];
    }
  }
  const fix = "Give the receiver the secret that the sender shows for this webhook, and for the right environment.";
  const which = secrets.length > 1 ? ` (number ${unknown.join(", ")})` : "";
  return [problem("secret_unknown", `the receiver does not use a given secret${which}`, fix)];
}

/** Sends what a receiver stores. */
export async function examineSenderEvent(subject: Subject): Promise<Finding[]> {
  const [secret = ""] = subject.secrets;
  const { answer } = await post(subject, { secret, isNew: true });
  const answered = describeAnswer(answer, false);
  if (isSuccess(answer)) return [ok("event_stored", `the sender's sample is acknowledged: ${answered}`)];
  return [
    problem(
      "event_not_stored",
      `the sender's sample is answered ${answered}`,
      "Read the receiver's log, which names the cause.",
    ),
  ];
}

function isStatus(answer: Answer, status: number): boolean {
  return answer.kind === "answer" && answer.status === status;
}

function signsTime(sender: AnySender): boolean {
  const { body } = sender.sample(LONG_AGO_MS);
  const bytes = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  const signature = sender.signature(sender.sign(bytes, { secret: "whsec_test", now: LONG_AGO_MS }), undefined);
  return signature.ok && signature.signedAt(bytes) !== null;
}
