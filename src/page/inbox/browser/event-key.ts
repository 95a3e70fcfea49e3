import type { InboxEntry } from "../../../kit/inbox/stored-events.js";
import type { Overview } from "../inbox-api.js";

/**
 * @returns how the server is told of an event: by its id, on a page over several endpoints with its
 * endpoint before it
 */
export function keysOf(
  overview: Pick<Overview, "endpoints"> | undefined,
): (event: Pick<InboxEntry, "endpoint" | "eventId">) => string {
  const hasMany = (overview?.endpoints.length ?? 0) > 1;
  return ({ endpoint, eventId }) => (hasMany ? `${endpoint}/${eventId}` : eventId);
}
