import { SignalboxError } from "../../base/errors.js";

/**
 * Throw it from `onSignal` when another attempt cannot succeed. The event becomes `dead`
 * immediately, and is kept until a user replays or discards it.
 *
 * @example
 * throw new PermanentFailure("no such tenant");
 */
export class PermanentFailure extends SignalboxError {
  constructor(
    message = "The callback refused the event permanently.",
    options?: { cause?: unknown },
  ) {
    super("permanent_failure", message, "", options);
    this.name = "PermanentFailure";
  }
}

/**
 * Throw it from `onSignal` to get the event later, for example because of a rate limit. It is
 * handed off again after `delayMs`, without using up an attempt.
 *
 * @example
 * throw new RetryLater("queue is paused", { delayMs: 60_000 });
 */
export class RetryLater extends SignalboxError {
  /** Milliseconds until the event is due again. @default 60000 */
  readonly delayMs: number;

  constructor(
    message = "The callback asked for a later attempt.",
    options?: { delayMs?: number | undefined; cause?: unknown },
  ) {
    super("retry_later", message, "", options);
    this.name = "RetryLater";
    // A delay can come from another system's answer, so an unusable one gets the default and is not
    // refused.
    const delayMs = options?.delayMs ?? 60_000;
    this.delayMs = Number.isFinite(delayMs) && delayMs >= 0 ? delayMs : 60_000;
  }
}
