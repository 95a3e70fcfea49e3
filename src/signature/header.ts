/** The header that carries the signature of a delivery (service document, Events, rule 1). */
export const SIGNATURE_HEADER = "X-Service-Signature";

export type ParsedSignatureHeader =
  | { ok: true; /** The text of t, as signed. */ timestampText: string; timestamp: number; digestHex: string }
  | { ok: false; reason: "signature_missing" | "signature_malformed" };

// One form and nothing else. A header sent twice reaches us joined by ", " and does not fit it, so no
// reading of "the first one" or "the last one" can differ between us and a proxy.
const FORM = /^t=([0-9]{1,12}),v1=([0-9a-f]{64})$/;

/** Total: takes whatever a request held and never throws. */
export function parseSignatureHeader(header: unknown): ParsedSignatureHeader {
  if (header === undefined || header === null) return { ok: false, reason: "signature_missing" };
  const match = typeof header === "string" ? FORM.exec(header) : null;
  if (match === null) return { ok: false, reason: "signature_malformed" };
  const [, timestampText, digestHex] = match as unknown as [string, string, string];
  return { ok: true, timestampText, timestamp: Number(timestampText), digestHex };
}
