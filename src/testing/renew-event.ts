import { randomBytes } from "node:crypto";

/** The same event as if it was sent now, with an id of its own. */
export function renewEvent<Event extends { id: string; created_at: string }>(event: Event): Event {
  return { ...event, id: `evt_${randomBytes(8).toString("hex")}`, created_at: new Date().toISOString() };
}
