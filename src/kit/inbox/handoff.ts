import type { Logger } from "pino";
import type { Backoff, BackoffOptions } from "./dispatch/outcomes.js";

/** An event that a newer one of its burst has superseded. */
export interface EarlierEvent {
  readonly eventId: string;
  readonly type: string;
  readonly receivedAt: Date;
}

/** The second argument of `onSignal`, `onTest` and `onEvent`. */
export interface Handoff {
  /**
   * `<endpoint>/<event id>`, with the option `tenant` `<endpoint>/<tenant>/<event id>`: the same in every hand-off of the event. If you use it as the id of a
   * job or message, your queue can recognise a repeat.
   */
  readonly deliveryKey: string;
  /** The sender's id of the event. In the inbox that of a tenant is `<tenant>/<event id>`. */
  readonly eventId: string;
  /** As the option `tenant` found it; null without that. */
  readonly tenant: string | null;
  /** The endpoint that accepted the event. */
  readonly endpoint: string;
  /** The name of the sender, such as `stripe`; `signals` without the option `sender`. */
  readonly sender: string;
  /**
   * The headers of the delivery that the sender uses, by their names in lower case. A copy of this
   * object does not have them.
   */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * 1 for the first attempt. Attempts that do not count (`RetryLater`, shutdown) do not increase
   * it.
   */
  readonly attempt: number;
  /** When the last byte of the body was received. */
  readonly receivedAt: Date;
  /**
   * An earlier hand-off of this event may have reached your system: its callback had not ended when
   * the process died, the receiver closed or the attempt timed out, or the event was done and was
   * replayed.
   */
  readonly possiblyRepeated: boolean;
  /** A user replayed the event, which was `done`, `dead` or `quarantined`. */
  readonly replayed: boolean;
  /** The body as received, byte for byte. */
  readonly rawBody: Uint8Array;
  /**
   * With the option `coalesce`: the earlier events of its burst, which are not handed off; the last
   * 100 of them, the oldest first.
   */
  readonly earlier: readonly EarlierEvent[];
  /** How many earlier events there are. */
  readonly earlierCount: number;
  /**
   * Aborted when the attempt has lasted `handoff.timeoutMs`, or at the end of `graceMs` when the
   * receiver closes. A listener of `abort` must not throw: Node makes that an uncaught exception,
   * which ends the process.
   */
  readonly abortSignal: AbortSignal;
  /** The receiver's logger, which here adds `deliveryKey` and `attempt` to each line. */
  readonly logger: Logger;
  /**
   * With `postgresStore`: a statement for a transaction of yours in the same database, such as
   * `SELECT "signalbox".complete(123, 4)`. It makes the event done when that transaction commits,
   * together with what else the transaction writes. It fails if this hand-off has lost the event,
   * and then the transaction must be rolled back.
   *
   * A copy of this object does not have it, nor `logger` and `abortSignal`.
   *
   * @throws SignalboxError `store_unsupported` with another store; `handoff_ended` when this
   * attempt has failed, timed out or ended
   */
  readonly completeSql: string;
}

/** Resolve once your system has saved the event; reject to get the event again. */
export type HandoffCallback<Event> = (event: Event, handoff: Handoff) => unknown;

/** How events are handed to the callbacks. */
export interface HandoffOptions {
  /**
   * Most attempts at the same time. A callback that goes on after its time-out is not counted.
   * @default 16
   */
  concurrency?: number | undefined;
  /** Milliseconds after which a callback counts as failed. @default 30000 */
  timeoutMs?: number | undefined;
  /** Failed attempts after which an event is `dead`. @default 20 */
  maxAttempts?: number | undefined;
  /** Delay between attempts: full jitter with these bounds, or a custom function. */
  backoff?: BackoffOptions | Backoff | undefined;
}
