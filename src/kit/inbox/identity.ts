import { hash } from "node:crypto";
import type { Fact, NewEvent } from "./batch.js";

/** What makes deliveries one event where the sender does not sign all of it. */
export type Identity = Pick<NewEvent, "eventId" | "type" | "subtype" | "subject" | "bodyHash">;

const FACTS: readonly Fact[] = ["type", "subtype", "subject"];

/** The facts that two events do not share. */
export function differingFacts(one: Pick<NewEvent, Fact>, other: Pick<NewEvent, Fact>): Fact[] {
  return FACTS.filter((fact) => one[fact] !== other[fact]);
}

/** Whether the events with one key, an id or a content key, are the same in everything else. */
export function isSameEvent(
  one: Omit<Identity, "eventId">,
  other: Omit<Identity, "eventId">,
): boolean {
  return (
    differingFacts(one, other).length === 0 && Buffer.compare(one.bodyHash, other.bodyHash) === 0
  );
}

const OWN_ID = /~[0-9a-f]{32}$/;

/**
 * The id under which an event is stored when another one has its id: no other event can get it,
 * since ids of this form that are delivered get one of their own as well; see {@link firstIdOf}.
 */
export function ownIdOf(
  { eventId, bodyHash, ...event }: Identity,
  unsigned: readonly Fact[],
): string {
  // A fact that is read from the signed body adds nothing, and another version may read another
  // one.
  const facts = FACTS.map((fact) => (unsigned.includes(fact) ? event[fact] : null));
  const identity = JSON.stringify([eventId, ...facts, Buffer.from(bodyHash).toString("hex")]);
  return `${eventId}~${hash("sha256", identity, "hex").slice(0, 32)}`;
}

/**
 * The id under which an event of a sender that does not sign its ids is stored when no other has
 * it.
 */
export function firstIdOf(identity: Identity, unsigned: readonly Fact[]): string {
  return OWN_ID.test(identity.eventId) ? ownIdOf(identity, unsigned) : identity.eventId;
}
