import { SignalboxError } from "../errors.js";

/** What a store throws when it is used before `open` or after `close` (G11). */
export function closedStoreError(): SignalboxError {
  return new SignalboxError("store_failed", "The store is not open.", "Call receiver.start() first.");
}
