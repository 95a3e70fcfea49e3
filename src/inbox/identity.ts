import { hash } from "node:crypto";
import type { NewEvent } from "./batch.js";

/** What makes deliveries one event where the sender does not sign all of it. */
export type Identity = Pick<NewEvent, "eventId" | "type" | "subtype" | "subject" | "bodyHash">;

/** Whether the events with one key, an id or a content key, are the same in everything else. */
export function isSameEvent(one: Omit<Identity, "eventId">, other: Omit<Identity, "eventId">): boolean {
  return (
    one.type === other.type &&
    one.subtype === other.subtype &&
    one.subject === other.subject &&
    Buffer.compare(one.bodyHash, other.bodyHash) === 0
  );
}

const OWN_ID = /~[0-9a-f]{32}$/;

/**
 * The id under which an event is stored when another one has its id: no other event can get it, since ids of this form that are
 * delivered get one of their own as well; see {@link firstIdOf}.
 */
export function ownIdOf({ eventId, type, subtype, subject, bodyHash }: Identity): string {
  const identity = JSON.stringify([eventId, type, subtype, subject, Buffer.from(bodyHash).toString("hex")]);
  return `${eventId}~${hash("sha256", identity, "hex").slice(0, 32)}`;
}

/** The id under which an event of a sender that does not sign its ids is stored when no other has it. */
export function firstIdOf(identity: Identity): string {
  return OWN_ID.test(identity.eventId) ? ownIdOf(identity) : identity.eventId;
}
