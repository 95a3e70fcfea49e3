import type { Clock } from "../../base/time/clock.js";
import type { OpenInbox } from "../inbox/open-inbox.js";
import type { ReceiverLog } from "./receiver-log.js";

/** The parts of a receiver that its inbox page needs. */
export interface ReceiverParts {
  inbox: OpenInbox;
  clock: Clock;
  log: ReceiverLog;
  /** Aborted when the receiver begins to close. */
  closing: AbortSignal;
}

/** The same symbol in every installed copy of the package. */
const PARTS = Symbol.for("signalbox.receiverParts");

export function withParts<Receiver extends object>(
  receiver: Receiver,
  parts: ReceiverParts,
): Receiver {
  return Object.defineProperty(receiver, PARTS, { value: parts });
}

/** @returns undefined for a value that is not the receiver that `createReceiver` returned */
export function partsOf(receiver: unknown): ReceiverParts | undefined {
  return (receiver as { [PARTS]?: ReceiverParts } | null | undefined)?.[PARTS];
}
