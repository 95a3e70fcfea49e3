import type { Logger } from "pino";
import type { Backoff, BackoffOptions } from "./backoff.js";

/** What `onSignal` and `onTest` get beside the event. */
export interface Handoff {
  /**
   * `<endpoint>/<event id>`: the same in every hand-off of the event. Give it to your queue as the job's or
   * message's id and a repeat changes nothing.
   */
  readonly deliveryKey: string;
  /** The endpoint that accepted it. */
  readonly endpoint: string;
  /** 1 for the first. An attempt that did not count (RetryLater, shutdown) does not raise it. */
  readonly attempt: number;
  /** When the event was accepted. */
  readonly receivedAt: Date;
  /**
   * An earlier hand-off of this event may have reached your system: the process died or the time ran out before its
   * callback ended, or the event was done and was replayed.
   */
  readonly possiblyRepeated: boolean;
  /** A person asked for this hand-off. */
  readonly replayed: boolean;
  /** The body as received, byte for byte. */
  readonly rawBody: Uint8Array;
  /**
   * Aborted when `handoff.timeoutMs` is over, or when the receiver closes and its grace is over. A listener of its `abort`
   * event must not throw: Node reports that as an uncaught exception, which ends the process.
   */
  readonly abortSignal: AbortSignal;
  /** Has the event's id and the attempt in every line. */
  readonly logger: Logger;
}

/** Resolved: your system owns the event now. Rejected: it is handed off again. */
export type HandoffCallback<Event> = (event: Event, handoff: Handoff) => unknown;

/** How events are handed to the callbacks. */
export interface HandoffOptions {
  /** Callbacks that run at once. @default 16 */
  concurrency?: number | undefined;
  /** Milliseconds after which a callback counts as failed. @default 30000 */
  timeoutMs?: number | undefined;
  /** Failed attempts after which an event is `dead`. @default 20 */
  maxAttempts?: number | undefined;
  /** Delay between attempts: full jitter with these bounds, or a function of your own. */
  backoff?: BackoffOptions | Backoff | undefined;
}
