import type { Logger } from "pino";
import type { AbortHandle } from "../inbox/dispatch/abort-handle.js";
import type { ClaimedEvent } from "../inbox/batch.js";
import type { Handoff } from "../inbox/handoff.js";
import { deliveryKeyOf } from "./receiver-events.js";

/**
 * The second argument of `onSignal`. Few callbacks use the abort signal or the logger, so both are
 * made on first use. Getters of a class are not enumerable: a hand-off can be logged and copied
 * although `completeSql` throws with most stores.
 */
export class LazyHandoff implements Handoff {
  readonly deliveryKey: string;
  readonly replayed: boolean;
  readonly possiblyRepeated: boolean;
  readonly receivedAt: Date;
  readonly rawBody: Uint8Array;
  readonly #abort: Pick<AbortHandle, "signal">;
  readonly #parent: Logger;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #completeSql: () => string;
  #logger: Logger | null = null;

  constructor(
    event: ClaimedEvent,
    readonly attempt: number,
    abort: Pick<AbortHandle, "signal">,
    readonly endpoint: string,
    readonly sender: string,
    parent: Logger,
    completeSql: (event: ClaimedEvent) => string,
  ) {
    this.deliveryKey = deliveryKeyOf(endpoint, event.eventId);
    this.replayed = event.replayed;
    this.possiblyRepeated = event.possiblyRepeated;
    this.receivedAt = new Date(event.received.at);
    this.rawBody = event.body;
    this.#headers = event.received.headers;
    this.#abort = abort;
    this.#parent = parent;
    this.#completeSql = () => completeSql(event);
  }

  /** A getter, since one of them is the signature, which nobody should log by chance. */
  get headers(): Readonly<Record<string, string>> {
    return this.#headers;
  }

  get abortSignal(): AbortSignal {
    return this.#abort.signal;
  }

  get logger(): Logger {
    const { deliveryKey, attempt } = this;
    return (this.#logger ??= this.#parent.child({ deliveryKey, attempt }));
  }

  get completeSql(): string {
    return this.#completeSql();
  }
}
