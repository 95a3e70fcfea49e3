import type { Logger } from "pino";
import type { AbortHandle } from "../inbox/abort-handle.js";
import type { Handoff } from "../inbox/handoff.js";
import type { ClaimedEvent } from "../inbox/store.js";
import { deliveryKeyOf } from "./receiver-events.js";

/**
 * The key of the values that the getters below read. They are not in a private field, because the getters must also work on
 * a proxy of the hand-off, which has no private field.
 */
const LAZY = Symbol("signalbox.handoff");

interface LazyHandoff extends Handoff {
  [LAZY]: {
    abort: Pick<AbortHandle, "signal">;
    parent: Logger;
    logger: Logger | null;
    event: ClaimedEvent;
    completeSql: (event: ClaimedEvent) => string;
  };
}

// All hand-offs share these getters: making getters for each object takes several times as long.
const ABORT_SIGNAL: PropertyDescriptor & ThisType<LazyHandoff> = {
  enumerable: true,
  get() {
    return this[LAZY].abort.signal;
  },
};
const LOGGER: PropertyDescriptor & ThisType<LazyHandoff> = {
  enumerable: true,
  get() {
    const { deliveryKey, attempt, [LAZY]: lazy } = this;
    return (lazy.logger ??= lazy.parent.child({ deliveryKey, attempt }));
  },
};
/** Not enumerable, because it throws with most stores, and a hand-off must be safe to log and to copy. */
const COMPLETE_SQL: PropertyDescriptor & ThisType<LazyHandoff> = {
  get() {
    const { event, completeSql } = this[LAZY];
    return completeSql(event);
  },
};

/** Makes the second argument of `onSignal`. Few callbacks use the abort signal or the logger: both are made on first use. */
export function createHandoff(
  event: ClaimedEvent,
  attempt: number,
  abort: Pick<AbortHandle, "signal">,
  endpoint: string,
  parent: Logger,
  completeSql: (event: ClaimedEvent) => string,
): Handoff {
  const handoff: Omit<Handoff, "abortSignal" | "logger" | "completeSql"> = {
    deliveryKey: deliveryKeyOf(endpoint, event.eventId),
    endpoint,
    attempt,
    replayed: event.replayed,
    possiblyRepeated: event.possiblyRepeated,
    receivedAt: new Date(event.receivedAt),
    rawBody: event.body,
  };
  Object.defineProperty(handoff, LAZY, { value: { abort, parent, logger: null, event, completeSql } });
  Object.defineProperty(handoff, "abortSignal", ABORT_SIGNAL);
  Object.defineProperty(handoff, "logger", LOGGER);
  Object.defineProperty(handoff, "completeSql", COMPLETE_SQL);
  return handoff as Handoff;
}
