import type { Clock } from "./clock.js";

/**
 * The returned function runs `work` once at the end of the event loop's turn, however often it is
 * called. By then the turn's requests and results of commits have been handled.
 */
export function oncePerTurn(work: () => void): () => void {
  return once(work, setImmediate);
}

/** The same, before the turn goes on with anything else. */
export function oncePerMicrotask(work: () => void): () => void {
  return once(work, queueMicrotask);
}

function once(work: () => void, schedule: (run: () => void) => void): () => void {
  let isScheduled = false;
  return () => {
    if (isScheduled) return;
    isScheduled = true;
    schedule(() => {
      isScheduled = false;
      work();
    });
  };
}

/**
 * Resolves in the next turn of the event loop: the promises that have resolved by now are handled
 * before.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * Resolves with the result of `work`, or with `late` after `timeoutMs`. The work then continues,
 * and its result is dropped.
 */
export function withDeadline<Result, Late>(
  work: Promise<Result>,
  clock: Clock,
  timeoutMs: number,
  late: Late,
): Promise<Result | Late> {
  return new Promise((resolve, reject) => {
    const timeout = clock.setTimeout(() => resolve(late), timeoutMs);
    work.then(
      (result) => {
        timeout.cancel();
        resolve(result);
      },
      (error: unknown) => {
        timeout.cancel();
        reject(error);
      },
    );
  });
}
