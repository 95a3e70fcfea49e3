import { builtInSender } from "../../senders/built-in.js";
import { readable } from "../../senders/define-sender.js";
import { SENDER_NAMES } from "../../senders/sender-names.js";
import type { AnySender } from "../../senders/sender.js";
import { verifyParsedSignature } from "../../signature/verify.js";
import { bodyVariants } from "./body-variants.js";
import { KEEP_RAW_BYTES, REMAINING_CAUSES, skewCause, type Explanation } from "./explain-verification.js";
import { secretMistakes, type SecretMistake } from "./secret-mistakes.js";

/** A captured delivery of a sender other than the service. */
export interface CapturedDelivery {
  sender: AnySender;
  headers: Record<string, string>;
  body: Buffer;
  secrets: readonly string[];
  toleranceSeconds: number;
  nowSeconds: number;
  url: string | undefined;
}

/** Why the delivery is or is not valid. The texts contain no secret and no computed digest. */
export function explainDelivery(delivery: CapturedDelivery): Explanation {
  const { sender, headers, body, secrets, toleranceSeconds, nowSeconds, url } = delivery;
  const signature = sender.signature(headers, url);
  if (!signature.ok) {
    const { reason } = signature;
    const needed = sender.signedHeaders.filter((name) => headers[name] === undefined).join(", ");
    const lower = { ...headers, [sender.signatureHeader]: headers[sender.signatureHeader]?.toLowerCase() };
    const isInCapitals = reason === "signature_malformed" && sender.signature(lower, url).ok;
    const missing = `a header of the signature of ${sender.name} was not given: ${needed}`;
    const malformed = isInCapitals
      ? "the signature's letters must be lowercase"
      : `it has not the form of ${sender.name}`;
    const causes = [...otherSender(delivery), reason === "signature_missing" ? missing : malformed];
    return { valid: false, reason, causes: causes.slice(0, 1), possibleCauses: [] };
  }
  const match = (keys: readonly string[], signed: Buffer) =>
    verifyParsedSignature(signature, { body: signed, secrets: keys, toleranceSeconds: Infinity, now: 0 });
  const found = match(secrets, body);
  if (found.ok) {
    const ageSeconds = found.timestamp === null ? null : nowSeconds - found.timestamp;
    if (ageSeconds !== null && !(Math.abs(ageSeconds) <= toleranceSeconds)) {
      const causes = [skewCause(ageSeconds, toleranceSeconds)];
      return { valid: false, reason: "timestamp_out_of_tolerance", causes, possibleCauses: [] };
    }
    const reading = sender.read(readable(body, headers));
    return { valid: true, ageSeconds, secretIndex: found.secretIndex, reading };
  }
  const bodies = [
    { signed: body, cause: "" },
    ...bodyVariants(body).map(({ body: signed, name, by }) => {
      return { signed, cause: `the body was signed ${name}: ${by}; ${KEEP_RAW_BYTES}` };
    }),
  ];
  const mistakes = secrets.flatMap((secret) => senderMistakes(sender, secret, "signer"));
  const keys = [
    ...secrets.map((key) => ({ key, cause: "" })),
    // A key of bytes works in place of a text that is not decoded.
    ...mistakes.map((mistake) => ({ key: mistake.key as string, cause: `${mistake.found}. ${mistake.fix}` })),
  ];
  for (const { signed, cause: ofBody } of bodies) {
    for (const { key, cause: ofKey } of keys) {
      if (!match([key], signed).ok) continue;
      const causes = [ofBody, ofKey].filter((cause) => cause !== "");
      return { valid: false, reason: "signature_mismatch", causes, possibleCauses: [] };
    }
  }
  const causes = otherSender(delivery);
  return {
    valid: false,
    reason: "signature_mismatch",
    causes,
    possibleCauses: causes.length > 0 ? [] : REMAINING_CAUSES,
  };
}

/** The usual mistakes, with their keys as secrets of the sender. */
export function senderMistakes(sender: AnySender, secret: string, other: "signer" | "receiver"): SecretMistake[] {
  const isDecoded = sender.secretProblem("no base64!") !== null;
  const mistakes = secretMistakes(secret, other).map(({ key, fix, ...mistake }) => ({
    ...mistake,
    key: isDecoded ? key.toString("base64") : key,
    fix: fix.replace("the service", "the sender"),
  }));
  if (!isDecoded) return mistakes;
  const asText = {
    id: "secret_decoded",
    key: Buffer.from(secret.trim()).toString("base64"),
    found: `the ${other} used the text of the secret as the key`,
    fix: "The key is the base64 after its prefix, decoded.",
  };
  return [...mistakes, asText];
}

function otherSender({ sender, headers, body, secrets, url }: CapturedDelivery): string[] {
  const other = SENDER_NAMES.find((name) => {
    const signature =
      name === sender.name ? undefined : builtInSender(name, { publicUrl: url })?.signature(headers, url);
    if (signature?.ok !== true) return false;
    return verifyParsedSignature(signature, { body, secrets, toleranceSeconds: Infinity, now: 0 }).ok;
  });
  return other === undefined ? [] : [`the delivery is one of ${other}: give --sender ${other}`];
}
