import { hash } from "node:crypto";
import { firstIdOf, ownIdOf } from "../inbox/identity.js";
import type { ReadAgain } from "../inbox/store.js";
import type { ReceivedDelivery } from "../inbox/stored-events.js";
import { readable } from "../senders/engine/define-sender.js";
import type { AnySender, Reading } from "../senders/engine/sender.js";

/** Reads a stored event again, after a restart or at a replay. */
export function readStored(
  sender: AnySender,
  { received, body }: { received: ReceivedDelivery; body: Uint8Array },
): Reading {
  return sender.read(readable(body, received.headers));
}

/** @param find finds the sender of an event by its name; undefined when it is not known here */
export function readAgainBy(find: (name: string) => AnySender | undefined): ReadAgain {
  return (event) => {
    const sender = find(event.sender);
    const reading = sender === undefined ? null : readStored(sender, event);
    if (reading?.kind === "challenge") {
      return { eventId: reading.id, type: reading.type, subtype: null, subject: null };
    }
    if (reading?.kind !== "event" || reading.quarantine !== null) return null;
    const { id, type, subtype, subject } = reading;
    const facts = { eventId: id ?? idOfBody(event.body), type, subtype, subject };
    if (sender?.unsignedId !== true) return facts;
    const { unsignedFacts } = sender;
    const identity = { ...facts, bodyHash: hash("sha256", event.body, "buffer") };
    return {
      ...facts,
      eventId: firstIdOf(identity, unsignedFacts),
      ownId: ownIdOf(identity, unsignedFacts),
    };
  };
}

/** The id of an event that has none of its own. */
export function idOfBody(body: Uint8Array): string {
  return `sha256:${hash("sha256", body, "hex")}`;
}
