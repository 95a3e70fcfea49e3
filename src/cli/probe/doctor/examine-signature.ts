import { randomBytes } from "node:crypto";
import { DEFAULT_TOLERANCE_SECONDS } from "../../../kit/senders/signature/verify.js";
import {
  describeAnswer,
  isRefusal,
  isSuccess,
  type Answer,
} from "../../deliveries/send-delivery.js";
import { bodyVariants, secretMistakes } from "../../deliveries/usual-mistakes.js";
import {
  finding,
  problem,
  verdictOf,
  verificationBody,
  type Finding,
  type Subject,
} from "./examination.js";

export async function examineForgery({ send, facts }: Subject): Promise<Finding[]> {
  const { answer, code } = await send({ body: verificationBody(), key: randomBytes(32) });
  facts.isSignalbox = code === "signature_mismatch";
  if (isRefusal(answer)) return [finding("forgery_refused")];
  if (isSuccess(answer)) return [finding("forgery_accepted", { what: "signals" })];
  return [unexpected("a forged signature", answer)];
}

export async function examineStaleness({ send, facts }: Subject): Promise<Finding[]> {
  const reply = await send({ body: verificationBody(), skewSeconds: -600 });
  const { answer } = reply;
  // The body was changed in transit, so the receiver did not get as far as the age. The examination
  // `body` reports the change.
  if (facts.isSignalbox === true && verdictOf(reply) === "mismatched") return [];
  if (isRefusal(answer)) return [finding("stale_refused")];
  if (isSuccess(answer))
    return [finding("stale_accepted", { tolerance: DEFAULT_TOLERANCE_SECONDS })];
  return [unexpected("a signature that is 10 minutes old", answer)];
}

function unexpected(what: string, answer: Answer): Finding {
  return finding("answer_unexpected", { what, answered: describeAnswer(answer, false) });
}

/**
 * Finds out whether the receiver has the given secrets. An answer only shows whether a signature
 * matches the receiver's key and the bytes that arrived. If no given secret matches, this function
 * tries the wrong keys that common mistakes produce. The key that matches shows which mistake was
 * made.
 */
export async function examineSecret(subject: Subject): Promise<Finding[]> {
  const { secrets, facts } = subject;
  const known: string[] = [];
  for (const key of secrets) if (await matchesKey(subject, key)) known.push(key);
  const [first] = known;
  if (first === undefined) return [await explainMismatch(subject)];
  facts.key = first;
  if (known.length === secrets.length) return [finding("secret")];
  const unknown = secrets.flatMap((key, index) => (known.includes(key) ? [] : [index + 1]));
  const count = secrets.length;
  return [finding("secret_partly_known", { count, unknown: unknown.join(", ") })];
}

async function explainMismatch(subject: Subject): Promise<Finding> {
  const { secrets, facts } = subject;
  for (const secret of secrets) {
    if (await matchesEmptyBody(subject, secret)) return knowsSecret(subject, secret);
  }
  for (const mistake of secrets.flatMap((secret) => secretMistakes(secret, "receiver"))) {
    const { key } = mistake;
    if (!(await matchesEmptyBody(subject, key)) && !(await matchesKey(subject, key))) continue;
    facts.key = key;
    return problem(mistake);
  }
  for (const secret of secrets) {
    if (await matchesChangedBody(subject, secret)) return knowsSecret(subject, secret);
  }
  // A receiver of signalbox gives a code with its 401. A 401 without a code can be from any
  // program.
  const other =
    facts.isSignalbox === true
      ? ""
      : " Or a gateway in front of the receiver refuses every request with 401.";
  return finding("secret_unknown", { other });
}

function knowsSecret({ facts }: Subject, secret: string): Finding {
  facts.key = secret;
  return finding("secret:changed");
}

async function matchesKey({ send }: Subject, key: string | Buffer): Promise<boolean> {
  return verdictOf(await send({ body: verificationBody(), key })) === "matched";
}

/**
 * Whether the receiver verifies with this key, tried with an empty body, because an empty body
 * cannot be changed in transit. Other receivers may answer an empty body with an error, so it is
 * sent only to a receiver of signalbox.
 */
async function matchesEmptyBody({ send, facts }: Subject, key: string | Buffer): Promise<boolean> {
  if (facts.isSignalbox !== true) return false;
  return verdictOf(await send({ body: Buffer.alloc(0), key })) === "matched";
}

async function matchesChangedBody({ send }: Subject, key: string): Promise<boolean> {
  const body = verificationBody();
  for (const { body: signed } of bodyVariants(body)) {
    if (verdictOf(await send({ body, signed, key })) === "matched") return true;
  }
  return false;
}
