import type { StoredEvent } from "./stored-events.js";

/** An event for NDJSON: bytes as base64, hashes as hex. `signalbox inbox import` reads it. */
export function exportedEvent({ bodyHash, rawBody, received, ...entry }: StoredEvent) {
  const { at: _isReceivedAt, ...others } = received;
  return {
    ...entry,
    ...others,
    bodyHash: Buffer.from(bodyHash).toString("hex"),
    bodyBase64: rawBody === null ? null : Buffer.from(rawBody).toString("base64"),
  };
}
