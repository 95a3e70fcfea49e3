import { suspectBodies } from "./body-changes.js";
import type { Subject } from "./examination.js";
import { blocker, ok, problem, warning, type Finding } from "./finding.js";
import { verdictOf, verificationEvent } from "./probe.js";
import { secretGuesses } from "./secret-guesses.js";

/**
 * Is the secret the receiver's? What it answers tells which bytes and which key it puts together, so each usual slip is
 * signed as the receiver would and sent: the one that it takes is the slip.
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
  const mend = "Pass it to createReceiver too (secrets takes an array), or leave it out here if it is an old one.";
  return [warning("secret_partly_known", `the receiver does not know ${which}`, mend)];
}

async function explainMismatch(subject: Subject): Promise<Finding> {
  const { secrets, facts } = subject;
  for (const secret of secrets) {
    if (await isKeyForNothing(subject, secret)) return isRight(subject, secret);
  }
  for (const secret of secrets) {
    for (const { key, id, found, mend } of secretGuesses(secret)) {
      if (key.length === 0 || !((await isKeyForNothing(subject, key)) || (await isKeyOf(subject, key)))) continue;
      facts.key = key;
      return problem(id, found, mend);
    }
  }
  // A body that is changed on its way makes a right secret look wrong.
  for (const secret of secrets) {
    if (await isKeyOfChangedBody(subject, secret)) return isRight(subject, secret);
  }
  const mend =
    "Compare both with the secret that the service showed (`printenv SIGNALS_SECRET | sha256sum` on both sides): it may be " +
    "another registration's, another environment's, or from before a rotation.";
  const which =
    secrets.length === 1
      ? "the secret given here is not the receiver's"
      : "none of the secrets given here is the receiver's";
  // Codes of signalbox's tell a mismatch. A bare 401 may come from anybody.
  const other = facts.isSignalbox === true ? "" : " Or a gateway before the receiver refuses every request with 401.";
  return blocker("secret_unknown", which, mend + other);
}

function isRight({ facts }: Subject, secret: string): Finding {
  facts.key = secret;
  return ok("secret", "the receiver knows the secret, and gets other bytes than those that were signed");
}

async function isKeyOf({ send }: Subject, key: string | Buffer): Promise<boolean> {
  const body = Buffer.from(JSON.stringify(verificationEvent()));
  return verdictOf(await send({ body, key })) === "matched";
}

/** An empty body has nothing to change. Another receiver than ours might break at it. */
async function isKeyForNothing({ send, facts }: Subject, key: string | Buffer): Promise<boolean> {
  if (facts.isSignalbox !== true) return false;
  return verdictOf(await send({ body: Buffer.alloc(0), key })) === "matched";
}

async function isKeyOfChangedBody({ send }: Subject, key: string): Promise<boolean> {
  const body = Buffer.from(JSON.stringify(verificationEvent()));
  for (const signed of suspectBodies(body)) {
    if (verdictOf(await send({ body, signed, key })) === "matched") return true;
  }
  return false;
}
