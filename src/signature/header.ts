/** The header that carries the signature of a delivery (service document, Events, rule 1). */
export const SIGNATURE_HEADER = "X-Service-Signature";

export interface ParsedSignature {
  ok: true;
  /** The text of t, as signed. */
  timestampText: string;
  timestamp: number;
  digestHex: string;
}

type HeaderProblem = "signature_missing" | "signature_malformed";

// A header that was sent twice is joined by ", " and does not match: a proxy and this receiver could disagree about which
// value counts.
const FORM = /^t=([0-9]{1,12}),v1=([0-9a-f]{64})$/;

/** Never throws, whatever the value is. */
export function parseSignatureHeader(header: unknown): ParsedSignature | { ok: false; reason: HeaderProblem } {
  if (header === undefined || header === null) return { ok: false, reason: "signature_missing" };
  const match = typeof header === "string" ? FORM.exec(header) : null;
  if (match === null) return { ok: false, reason: "signature_malformed" };
  const [, timestampText, digestHex] = match as unknown as [string, string, string];
  return { ok: true, timestampText, timestamp: Number(timestampText), digestHex };
}
