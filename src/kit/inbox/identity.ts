import { hash } from "node:crypto";
import type { Fact, NewEvent } from "./batch.js";

/** What makes deliveries one event where the sender does not sign all of it. */
type Identity = Pick<NewEvent, "eventId" | "type" | "subtype" | "subject" | "bodyHash">;

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

/** So many bodies are remembered, in about 8 MB. */
const MOST_SEEN = 100_000;

/**
 * The bodies that this process has seen lately, by 48 bits of their hashes. An index of the store
 * would know all of them, but each event would write to a random page of it.
 */
export function createSeenBodies(most = MOST_SEEN) {
  const seen = new Set<number>();
  const ring = new Float64Array(most);
  /** Where the next body goes, in the place of the oldest. */
  let next = 0;
  /** Where the next older body goes. */
  let older = most;

  return {
    /** @returns whether it was there */
    add(bodyHash: Uint8Array): boolean {
      const key = keyOf(bodyHash);
      if (seen.has(key)) return true;
      seen.delete(ring[next] as number);
      ring[next] = key;
      next = (next + 1) % most;
      seen.add(key);
      return false;
    },
    /**
     * For the bodies from before the start, the newest first, before any `add`. @returns whether
     * there is room for more
     */
    addOlder(bodyHash: Uint8Array): boolean {
      const key = keyOf(bodyHash);
      if (older > 0 && !seen.has(key)) {
        older -= 1;
        ring[older] = key;
        seen.add(key);
      }
      return older > 0;
    },
    /** Its event was not stored. */
    forget: (bodyHash: Uint8Array) => void seen.delete(keyOf(bodyHash)),
  };
}

function keyOf(bodyHash: Uint8Array): number {
  return Buffer.from(bodyHash.buffer, bodyHash.byteOffset, 6).readUIntBE(0, 6);
}
