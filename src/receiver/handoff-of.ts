import type { Logger } from "pino";
import type { LazyAbort } from "../inbox/abort-handle.js";
import type { Handoff } from "../inbox/handoff.js";
import type { ClaimedEvent } from "../inbox/store.js";
import { deliveryKeyOf } from "./receiver-events.js";

/**
 * What `onSignal` gets beside the event. What most callbacks never ask for is made when it is asked for. A class, since
 * one is made for every attempt: an object literal with getters costs several times as much.
 */
export class HandoffOf implements Handoff {
  readonly deliveryKey: string;
  readonly endpoint: string;
  readonly attempt: number;
  readonly replayed: boolean;
  readonly possiblyRepeated: boolean;
  readonly receivedAt: Date;
  readonly rawBody: Uint8Array;
  readonly #abort: LazyAbort;
  readonly #parent: Logger;
  #logger: Logger | undefined;

  constructor(event: ClaimedEvent, attempt: number, abort: LazyAbort, endpoint: string, parent: Logger) {
    this.deliveryKey = deliveryKeyOf(endpoint, event.eventId);
    this.endpoint = endpoint;
    this.attempt = attempt;
    this.replayed = event.replayed;
    this.possiblyRepeated = event.possiblyRepeated;
    this.receivedAt = new Date(event.receivedAt);
    this.rawBody = event.body;
    this.#abort = abort;
    this.#parent = parent;
  }

  get abortSignal(): AbortSignal {
    return this.#abort.signal;
  }

  get logger(): Logger {
    return (this.#logger ??= this.#parent.child({ deliveryKey: this.deliveryKey, attempt: this.attempt }));
  }
}
