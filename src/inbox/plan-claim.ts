import type { Breaker } from "./breaker.js";
import type { Slots } from "./slots.js";

export interface ClaimPlan {
  limit: number;
  /** For one suspect and nothing beside it. */
  alone: boolean;
  /** To find out whether the callback works again. */
  probing: boolean;
}

/** Events that one claim brings at most. */
const CLAIM_LIMIT = 64;

/** What may be claimed now; null when nothing may. */
export function planClaim(input: {
  breaker: Breaker;
  slots: Slots;
  /** Nothing speaks against new leases. */
  mayLease: boolean;
  suspectDue: boolean;
  /** The last claim is almost used up. Before that none is made: it costs a commit, so it should bring many. */
  isShort: boolean;
}): ClaimPlan | null {
  const { breaker, slots, mayLease, suspectDue, isShort } = input;
  const probing = breaker.state() === "probing";
  const alone = suspectDue && slots.isEmpty();
  const single = breaker.state() !== "open" && (alone || (probing && slots.isEmpty()));
  const limit = single ? 1 : mayLease && isShort ? Math.min(CLAIM_LIMIT, slots.free()) : 0;
  return limit < 1 ? null : { limit, alone, probing };
}
