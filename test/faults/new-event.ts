import { createHash } from "node:crypto";
import type { NewEvent, SignalEvent } from "../../src/index.js";

/** An event as the receiver gives it to its store. */
export function newEvent(event: SignalEvent, state: "ready" | "leased", now: number): NewEvent {
  const body = Buffer.from(JSON.stringify(event));
  return {
    endpoint: "default",
    eventId: event.id,
    type: event.type,
    state,
    dueAt: now,
    received: { at: now, headers: {} },
    bodyHash: createHash("sha256").update(body).digest(),
    body,
    reason: null,
  };
}
