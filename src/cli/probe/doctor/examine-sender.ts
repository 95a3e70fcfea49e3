import type { AnySender } from "../../../kit/senders/engine/sender.js";
import { signedDelivery } from "../../../kit/testing/signed-delivery.js";
import { explainAnswer } from "../../deliveries/explain-answer.js";
import { isSuccess } from "../../deliveries/send-delivery.js";
import { bodyVariants, senderMistakes } from "../../deliveries/usual-mistakes.js";
import {
  blocker,
  finding,
  post,
  problem,
  type Finding,
  type Reply,
  type Subject,
} from "./examination.js";
import { storedOrNot } from "./examine-body.js";
import { connected } from "./examine-connection.js";

/**
 * So old that every receiver refuses it, after it has checked the digest: this proves the secret,
 * and stores nothing. A time in a body may be two days old.
 */
const LONG_AGO_MS = 3 * 24 * 60 * 60 * 1000;

/**
 * Posts a sample of the sender, signed so long ago that it is not stored; or, if it `isNew`, now.
 *
 * @param secret the one to sign with
 * @param change makes the bytes that are sent from those that are signed
 */
async function postSample(
  subject: Subject,
  secret = "",
  isNew = false,
  change = (body: Buffer): Buffer => body,
): Promise<Reply> {
  const { surroundings, facts } = subject;
  const sender = subject.sender as AnySender;
  // One sample for all that is stored: so a run stores one event, and the others are its
  // duplicates.
  const known = isNew ? facts.sampled : undefined;
  const sampled = known ?? sampleOf(sender, surroundings.now() - (isNew ? 0 : LONG_AGO_MS));
  const { at: now, bytes, headers: given } = sampled;
  const { headers } = signedDelivery(bytes, { sender, secret, now, headers: given });
  if (isNew) facts.sampled = { ...sampled, headers };
  return post(subject, { headers, body: change(bytes) });
}

const withBlank = (body: Buffer): Buffer => Buffer.concat([body, Buffer.from(" ")]);

/** Posts a forged delivery, whose answer `examineSenderAnswer` judges. */
export async function examineSenderConnection(subject: Subject): Promise<Finding[]> {
  return connected(subject, await postSample(subject, subject.secrets[0], false, withBlank));
}

/** Whether the forged delivery reached the code that verifies it, and was refused. */
export function examineSenderAnswer({ facts, timeoutMs, sender }: Subject): Finding[] {
  const { answer, code } = facts.contact as Reply;
  const { name, signedHeaders } = sender as AnySender;
  // A 401 without a code is from a receiver that signalbox did not make.
  const isBare401 = code === null && answer.kind === "answer" && answer.status === 401;
  if (code === "signature_mismatch" || isBare401) return [finding("forgery_refused")];
  if (isSuccess(answer)) return [finding("forgery_accepted", { what: "events" })];
  if (code === "signature_missing" || code === "signature_malformed")
    return [finding("signature_lost", { sender: name, headers: signedHeaders.join(", ") })];
  return [blocker(explainAnswer(answer, timeoutMs))];
}

export async function examineSenderSecret(subject: Subject): Promise<Finding[]> {
  const { secrets, sendsTestEvent } = subject;
  const sender = subject.sender as AnySender;
  const isTimed = signsTime(sender);
  if (!isTimed && !sendsTestEvent) return [finding("secret_not_tried", { sender: sender.name })];
  const isKnown = async (secret: string, sent?: (body: Buffer) => Buffer): Promise<boolean> => {
    const { answer, code } = await postSample(subject, secret, !isTimed, sent);
    return isTimed ? code === "timestamp_out_of_tolerance" : isSuccess(answer);
  };
  const unknown: number[] = [];
  for (const [index, secret] of secrets.entries())
    if (!(await isKnown(secret))) unknown.push(index + 1);
  if (unknown.length === 0) return [finding("secret")];
  if (unknown.length === secrets.length) {
    const [secret = ""] = secrets;
    if (isTimed && (await isKnown(secret, (body) => bodyVariants(body)[0]?.body ?? body)))
      return [finding("body_changed:sender")];
    for (const mistake of secrets.flatMap((each) => senderMistakes(sender, each, "receiver"))) {
      const { key } = mistake;
      if (typeof key === "string" && sender.secretProblem(key) === null && (await isKnown(key)))
        return [problem(mistake)];
    }
  }
  const which = secrets.length > 1 ? ` (number ${unknown.join(", ")})` : "";
  return [finding("secret_unknown:sender", { which })];
}

export async function examineSenderEvent(subject: Subject): Promise<Finding[]> {
  return [storedOrNot("the sender's sample", await postSample(subject, subject.secrets[0], true))];
}

/** Each sender takes it, written in base64 or not. */
const ANY_SECRET = "whsec_dGhlIHNlY3JldCBvZiBubyByZWNlaXZlcg==";

function sampleOf(sender: AnySender, at: number): NonNullable<Subject["facts"]["sampled"]> {
  const { body, headers = {} } = sender.sample(at);
  return {
    at,
    bytes: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)),
    headers,
  };
}

function signsTime(sender: AnySender): boolean {
  const { bytes } = sampleOf(sender, LONG_AGO_MS);
  const signature = sender.signature(
    sender.sign(bytes, { secret: ANY_SECRET, now: LONG_AGO_MS }),
    undefined,
  );
  return signature.ok && signature.signedAt(bytes) !== null;
}
