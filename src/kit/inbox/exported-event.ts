import { SIGNATURE_HEADER } from "../senders/signature/header.js";
import type { StoredEvent } from "./stored-events.js";

/**
 * An event for NDJSON, without its signature: bytes as base64, hashes as hex. `signalbox inbox
 * import` reads it.
 */
export function exportedEvent({ bodyHash, rawBody, received, ...entry }: StoredEvent) {
  const { at: _isReceivedAt, ...others } = received;
  return {
    ...entry,
    ...others,
    headers: withoutSignature(received.headers, received.signatureHeader),
    bodyHash: Buffer.from(bodyHash).toString("hex"),
    bodyBase64: rawBody === null ? null : Buffer.from(rawBody).toString("base64"),
  };
}

/**
 * The signature is a proof of the secret, so no command, page or export tells it. Nothing that
 * reads an event again needs it.
 */
export function withoutSignature(
  headers: Readonly<Record<string, string>>,
  signatureHeader?: string,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !hasSignature(name, signatureHeader)),
  );
}

/** @param signatureHeader of its delivery, if the service did not send it */
export function hasSignature(name: string, signatureHeader: string = SIGNATURE_HEADER): boolean {
  return (
    name.toLowerCase() === signatureHeader.toLowerCase() ||
    name.toLowerCase() === SIGNATURE_HEADER.toLowerCase()
  );
}
