import type { ManualClock } from "../../../../src/kit/testing/index.js";
import { createManualClock } from "../../../../src/kit/testing/index.js";

/**
 * The `timeoutMs` of every client here: a timer of this length is a request that is under way, any
 * other is a pause.
 */
export const TIMEOUT_MS = 54_321;

/** A clock that stands still, and records the client's timers. */
export interface WatchedClock extends ManualClock {
  /** Every pause that began, in milliseconds. */
  pauses: number[];
  /** Resolves with the next pause that begins from now on. */
  nextPause(): Promise<number>;
  /** Resolves when no request is under way. */
  idle(): Promise<void>;
}

export const createWatchedClock = (startMs?: number): WatchedClock =>
  watchClock(createManualClock(startMs));

/** A view of a clock; timers that others set on the clock itself are not recorded. */
export function watchClock(clock: ManualClock): WatchedClock {
  const pauses: number[] = [];
  let underWay = 0;
  let onPause: ((delayMs: number) => void)[] = [];
  let onIdle: (() => void)[] = [];

  function end(): void {
    underWay -= 1;
    if (underWay > 0) return;
    for (const resume of onIdle) resume();
    onIdle = [];
  }

  return {
    ...clock,
    pauses,
    setTimeout(callback, delayMs) {
      if (delayMs !== TIMEOUT_MS) {
        pauses.push(delayMs);
        for (const resume of onPause) resume(delayMs);
        onPause = [];
        return clock.setTimeout(callback, delayMs);
      }
      underWay += 1;
      let isOver = false;
      const over = (): void => {
        if (!isOver) end();
        isOver = true;
      };
      const timer = clock.setTimeout(() => {
        over();
        callback();
      }, delayMs);
      return {
        cancel: () => {
          over();
          timer.cancel();
        },
      };
    },
    nextPause: () => new Promise((resume) => onPause.push(resume)),
    idle: () => (underWay === 0 ? Promise.resolve() : new Promise((resume) => onIdle.push(resume))),
  };
}

/**
 * Moves time on, second by second, but never while a request is under way, until the promise is
 * settled.
 */
export async function settleOn(
  clock: WatchedClock,
  promise: Promise<unknown>,
  stepMs = 1000,
): Promise<void> {
  const state = { isSettled: false };
  const settle = (): void => void (state.isSettled = true);
  promise.then(settle, settle);
  for (let step = 0; !state.isSettled; step++) {
    if (step > 20_000) throw new Error("it is not settled after 20 000 steps");
    await clock.idle();
    await clock.advance(stepMs);
  }
}
