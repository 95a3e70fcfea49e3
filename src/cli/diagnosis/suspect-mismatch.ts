import { createHmac, timingSafeEqual } from "node:crypto";
import { bodySuspicions } from "./body-suspicions.js";
import { secretSuspicions, type SecretSuspicion } from "./secret-suspicions.js";

export interface Mismatch {
  timestampText: string;
  digest: Buffer;
  body: Buffer;
  secrets: readonly string[];
}

/**
 * Why a well-formed signature does not match: the usual mistakes are undone, one or two at a time, until the
 * digest comes out. Empty when none of them explains it.
 */
export function suspectMismatch({ timestampText, digest, body, secrets }: Mismatch): string[] {
  const signs = (key: string | Buffer, ...parts: (string | Buffer)[]): boolean => {
    const hmac = createHmac("sha256", key);
    for (const part of parts) hmac.update(part);
    return timingSafeEqual(hmac.digest(), digest);
  };
  const asSigned = (key: string | Buffer, bytes: Buffer): boolean => signs(key, `${timestampText}.`, bytes);

  const bodies = [...bodySuspicions(body)];
  const keys = secrets.flatMap((secret) => [...secretSuspicions(secret)]);

  const wrongBody = bodies.find((suspicion) => secrets.some((secret) => asSigned(secret, suspicion.body)));
  if (wrongBody !== undefined) return [wrongBody.cause];
  const wrongKey = keys.find(({ key }) => asSigned(key, body));
  if (wrongKey !== undefined) return [wrongKey.cause];

  const wholeKeys: SecretSuspicion[] = [...secrets.map((key) => ({ key, cause: "" })), ...keys];
  for (const { key, cause } of wholeKeys) {
    const slip = signerSlip((...parts) => signs(key, ...parts), timestampText, body);
    if (slip !== null) return [slip, cause].filter((text) => text !== "");
  }
  for (const { key, cause } of keys) {
    const both = bodies.find((suspicion) => asSigned(key, suspicion.body));
    if (both !== undefined) return [both.cause, cause];
  }
  return [];
}

/** Mistakes of a home-made signer. */
function signerSlip(
  signs: (...parts: (string | Buffer)[]) => boolean,
  timestampText: string,
  body: Buffer,
): string | null {
  const right = "it must sign the text of t, a dot, and the body";
  if (signs(body)) return `the signer signed the body alone: ${right}`;
  if (signs(timestampText, body)) return `the signer left out the dot after t: ${right}`;
  if (signs(`${timestampText}000.`, body)) return "the signer signed milliseconds and sent seconds";
  return null;
}

/** What is left when no usual mistake explains a mismatch. */
export const REMAINING_CAUSES: readonly string[] = [
  "the secret is another one: of another registration, another environment, or from before a rotation",
  "the header belongs to another delivery",
  "the body was changed beyond undoing (keys in another order, numbers rewritten, bytes lost): keep the raw bytes",
];
