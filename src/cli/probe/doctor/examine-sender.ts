import type { AnySender } from "../../../kit/senders/engine/sender.js";
import { errorCodeIn, isSuccess } from "../../deliveries/answer.js";
import { sendDelivery } from "../../deliveries/send-delivery.js";
import { senderMistakes } from "../../deliveries/explain-delivery.js";
import { bodyVariants } from "../../deliveries/body-variants.js";
import { explainAnswer } from "../../deliveries/explain-answer.js";
import { storedOrNot } from "./examine-body.js";
import { connected } from "./examine-answer.js";
import {
  blocker,
  ok,
  problem,
  warning,
  type Finding,
  type Reply,
  type Subject,
} from "./examination.js";

/**
 * So old that every receiver refuses it, after it has checked the digest: this proves the secret,
 * and stores nothing. A time in a body may be two days old.
 */
const LONG_AGO_MS = 3 * 24 * 60 * 60 * 1000;

/** Posts a sample of the sender, signed so long ago that it is not stored. */
async function post(
  { sender, url, secrets, timeoutMs, signal, surroundings, facts }: Subject,
  {
    secret,
    isNew = false,
    sent,
  }: { secret: string; isNew?: boolean; sent?: (body: Buffer) => Buffer },
): Promise<Reply> {
  const known = sender as AnySender;
  const before = surroundings.now();
  // One sample for all that is stored: so a run stores one event, and the others are its
  // duplicates.
  const sampled =
    (isNew ? facts.sampled : undefined) ?? sampleOf(known, isNew ? before : before - LONG_AGO_MS);
  const { at: now, bytes } = sampled;
  const signed = known.sign(bytes, { secret, now, headers: sampled.headers });
  if (isNew) facts.sampled = { ...sampled, headers: signed };
  const pairs = Object.entries(signed);
  const type = pairs.some(([name]) => name === "content-type")
    ? []
    : [["Content-Type", "application/json"] as const];
  const delivery = {
    method: "POST",
    headers: [...type, ...pairs],
    body: sent?.(bytes) ?? bytes,
    isChunked: false,
  };
  const answer = await sendDelivery(url, delivery, { timeoutMs, signal, secrets });
  const headers = answer.kind === "answer" ? answer.headers : {};
  return {
    answer,
    headers,
    code: errorCodeIn(answer),
    isVerified: false,
    at: (before + surroundings.now()) / 2,
  };
}

/** Posts a forged delivery, whose answer `examineSenderAnswer` judges. */
export async function examineSenderConnection(subject: Subject): Promise<Finding[]> {
  const [secret = ""] = subject.secrets;
  const reply = await post(subject, {
    secret,
    sent: (body) => Buffer.concat([body, Buffer.from(" ")]),
  });
  return connected(subject, reply);
}

/** Whether the forged delivery reached the code that verifies it, and was refused. */
export function examineSenderAnswer({ facts, timeoutMs, sender }: Subject): Finding[] {
  const { answer, code } = facts.contact as Reply;
  const { name, signedHeaders } = sender as AnySender;
  // A 401 without a code is from a receiver that signalbox did not make.
  const isBare401 = code === null && answer.kind === "answer" && answer.status === 401;
  if (code === "signature_mismatch" || isBare401)
    return [ok("forgery_refused", "a forged signature is refused")];
  if (isSuccess(answer)) {
    const fix =
      "Verify the signature of each delivery over its raw bytes, as expressHandler(receiver) does.";
    return [
      blocker("forgery_accepted", "a forged signature is accepted: anyone can post events", fix),
    ];
  }
  if (code === "signature_missing" || code === "signature_malformed") {
    const found = `the receiver finds no signature of ${name}`;
    const fix = `Compare --sender with the receiver's option sender; and make the proxy forward ${signedHeaders.join(", ")}.`;
    return [blocker("signature_lost", found, fix)];
  }
  const { id, found, fix } = explainAnswer(answer, timeoutMs);
  return [blocker(id, found, fix)];
}

export async function examineSenderSecret(subject: Subject): Promise<Finding[]> {
  const { secrets, sendsTestEvent } = subject;
  const sender = subject.sender as AnySender;
  const isTimed = signsTime(sender);
  if (!isTimed && !sendsTestEvent) {
    const found = `${sender.name} signs no time, so only an event that is stored can show whether the secret is right`;
    return [
      warning(
        "secret_not_tried",
        found,
        "Give --test-event to send the sender's sample, which is stored.",
      ),
    ];
  }
  const isKnown = async (secret: string, sent?: (body: Buffer) => Buffer): Promise<boolean> => {
    const { answer, code } = await post(subject, {
      secret,
      isNew: !isTimed,
      ...(sent !== undefined && { sent }),
    });
    return isTimed ? code === "timestamp_out_of_tolerance" : isSuccess(answer);
  };
  const unknown: number[] = [];
  for (const [index, secret] of secrets.entries())
    if (!(await isKnown(secret))) unknown.push(index + 1);
  if (unknown.length === 0) return [ok("secret", "the receiver knows every secret that was given")];
  if (unknown.length === secrets.length) {
    const [secret = ""] = secrets;
    if (isTimed && (await isKnown(secret, (body) => bodyVariants(body)[0]?.body ?? body))) {
      const fix =
        "Mount the receiver before every parser, and turn off the rewriting of bodies in the proxy in front of it.";
      return [blocker("body_changed", "the body is changed in transit", fix)];
    }
    for (const { key, id, found, fix } of secrets.flatMap((each) =>
      senderMistakes(sender, each, "receiver"),
    )) {
      if (typeof key === "string" && sender.secretProblem(key) === null && (await isKnown(key)))
        return [problem(id, found, fix)];
    }
  }
  const fix =
    "Give the receiver the secret that the sender shows for this webhook, and for the right environment.";
  const which = secrets.length > 1 ? ` (number ${unknown.join(", ")})` : "";
  return [problem("secret_unknown", `the receiver does not use a given secret${which}`, fix)];
}

export async function examineSenderEvent(subject: Subject): Promise<Finding[]> {
  const [secret = ""] = subject.secrets;
  return [storedOrNot("the sender's sample", await post(subject, { secret, isNew: true }))];
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
