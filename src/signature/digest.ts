import { createHmac } from "node:crypto";

/**
 * HMAC-SHA256 over the text of t, a dot and the body bytes (service document, Events, rule 2). The key is
 * the UTF-8 of the whole secret; a `whsec_` prefix or base64 look has no meaning here.
 */
export function signatureDigest(secret: string, timestampText: string, body: Uint8Array): Buffer {
  return createHmac("sha256", secret).update(`${timestampText}.`).update(body).digest();
}
