import type { InboxEntry, ReceivedDelivery, StoredEvent } from "../../../inbox/store.js";

/** An event as NDJSON carries it: bytes as base64 and hex. */
export interface ExportedEvent extends InboxEntry, Omit<ReceivedDelivery, "at"> {
  /** SHA-256 of the body, in hex. */
  bodyHash: string;
  bodyBase64: string | null;
}

export function exportedEvent({ bodyHash, rawBody, received, ...entry }: StoredEvent): ExportedEvent {
  const { at: _isReceivedAt, ...others } = received;
  return {
    ...entry,
    ...others,
    bodyHash: Buffer.from(bodyHash).toString("hex"),
    bodyBase64: rawBody === null ? null : Buffer.from(rawBody).toString("base64"),
  };
}
