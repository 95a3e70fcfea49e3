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
  blocker,
  ok,
  problem,
  verdictOf,
  verificationBody,
  warning,
  type Finding,
  type Subject,
} from "./examination.js";

export async function examineForgery({ send, facts }: Subject): Promise<Finding[]> {
  const { answer, code } = await send({ body: verificationBody(), key: randomBytes(32) });
  facts.isSignalbox = code === "signature_mismatch";
  if (isRefusal(answer)) return [REFUSED_FORGERY];
  return [
    isSuccess(answer) ? acceptedForgery("signals") : unexpected("a forged signature", answer),
  ];
}

export const REFUSED_FORGERY = ok("forgery_refused", "a forged signature is refused");

export function acceptedForgery(what: "signals" | "events"): Finding {
  const fix =
    "Verify the signature of each delivery over its raw bytes, as expressHandler(receiver) does.";
  const found = `a forged signature is accepted: anyone can post ${what}`;
  return blocker("forgery_accepted", found, fix);
}

export async function examineStaleness({ send, facts }: Subject): Promise<Finding[]> {
  const reply = await send({ body: verificationBody(), skewSeconds: -600 });
  const { answer } = reply;
  // The body was changed in transit, so the receiver did not get as far as the age. The examination
  // `body` reports the change.
  if (facts.isSignalbox === true && verdictOf(reply) === "mismatched") return [];
  if (isRefusal(answer))
    return [ok("stale_refused", "a signature that is 10 minutes old is refused")];
  if (!isSuccess(answer)) return [unexpected("a signature that is 10 minutes old", answer)];
  const fix = `Set toleranceSeconds to ${DEFAULT_TOLERANCE_SECONDS}. With a larger value, an attacker can replay a captured delivery.`;
  return [problem("stale_accepted", "a signature that is 10 minutes old is accepted", fix)];
}

function unexpected(what: string, answer: Answer): Finding {
  const found = `${what} is answered ${describeAnswer(answer, false)}, but must be refused with 4xx`;
  return warning(
    "answer_unexpected",
    found,
    "Find out which program gives this answer, and read its log.",
  );
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
  if (known.length === secrets.length)
    return [ok("secret", "the receiver knows every secret that was given")];
  const unknown = secrets.flatMap((key, index) => (known.includes(key) ? [] : [index + 1]));
  const found = `of the ${secrets.length} given secrets, the receiver does not know number ${unknown.join(", ")}`;
  const fix =
    "Add it to the receiver's secrets. If it is an old secret, do not give it to this command.";
  return [warning("secret_partly_known", found, fix)];
}

async function explainMismatch(subject: Subject): Promise<Finding> {
  const { secrets, facts } = subject;
  for (const secret of secrets) {
    if (await matchesEmptyBody(subject, secret)) return knowsSecret(subject, secret);
  }
  for (const { key, id, found, fix } of secrets.flatMap((secret) =>
    secretMistakes(secret, "receiver"),
  )) {
    if (!(await matchesEmptyBody(subject, key)) && !(await matchesKey(subject, key))) continue;
    facts.key = key;
    return problem(id, found, fix);
  }
  for (const secret of secrets) {
    if (await matchesChangedBody(subject, secret)) return knowsSecret(subject, secret);
  }
  const fix =
    "Run `sha256sum signals.secret` (or `printenv SIGNALS_SECRET | sha256sum`) here and on the receiver's machine. The " +
    "results must be equal, and the secret the one that the service showed: one may be from another registration or " +
    "environment, or from before a rotation.";
  // A receiver of signalbox gives a code with its 401. A 401 without a code can be from any
  // program.
  const other =
    facts.isSignalbox === true
      ? ""
      : " Or a gateway in front of the receiver refuses every request with 401.";
  return blocker("secret_unknown", "the receiver uses none of the given secrets", fix + other);
}

function knowsSecret({ facts }: Subject, secret: string): Finding {
  facts.key = secret;
  return ok(
    "secret",
    "the receiver knows the secret, but the signed bytes do not arrive unchanged",
  );
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
