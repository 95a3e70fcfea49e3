import { createHmac } from "node:crypto";

/**
 * Computes the HMAC-SHA256, in lower-case hex, of the text of t, a dot and the body bytes (service
 * document, Events, rule 2). The key is the UTF-8 of the whole secret; it is not decoded, and no
 * prefix is removed.
 */
export function signatureDigest(secret: string, timestampText: string, body: Uint8Array): string {
  return createHmac("sha256", secret).update(`${timestampText}.`).update(body).digest("hex");
}
