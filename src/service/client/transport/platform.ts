import type { Clock } from "../../../base/time/clock.js";

/**
 * The part of an abort signal that the client uses, for programs that are compiled without the
 * types of a platform.
 */
export interface AbortSignalLike {
  readonly aborted: boolean;
  readonly reason: unknown;
  /** Calls the listener once the signal is aborted. */
  addEventListener(type: "abort", listener: () => void): void;
  /** Removes a listener. */
  removeEventListener(type: "abort", listener: () => void): void;
}

// Uses the platform's own types if there are any, so the client's types depend neither on the DOM
// nor on Node.
/** The platform's `AbortSignal`. */
export type PlatformAbortSignal = typeof globalThis extends {
  AbortSignal: { prototype: infer Signal };
}
  ? Signal
  : AbortSignalLike;

/** The platform's `fetch`. */
export type PlatformFetch = typeof globalThis extends { fetch: infer Fetch }
  ? Fetch
  : (url: string, init: object) => Promise<object>;

const FOLLOWERS = new WeakMap<PlatformAbortSignal, Set<AbortController>>();

/**
 * A controller that is aborted with the caller's signal, until `close()`.
 *
 * All calls that share a signal share one listener on it, because Node warns of more than ten.
 * `AbortSignal.any` is not used: in Node 20 each of its results takes memory as long as the
 * caller's signal exists.
 *
 * @internal
 */
export function openAbortScope(given: PlatformAbortSignal | undefined) {
  const controller = new AbortController();
  const signal: PlatformAbortSignal = controller.signal;
  const scope = { controller, signal, close: (): void => {} };
  if (given === undefined) return scope;
  if (given.aborted) controller.abort(given.reason);
  const followers = FOLLOWERS.get(given) ?? new Set();
  if (!FOLLOWERS.has(given)) {
    FOLLOWERS.set(given, followers);
    given.addEventListener("abort", () => followers.forEach((each) => each.abort(given.reason)));
  }
  followers.add(controller);
  return { ...scope, close: () => void followers.delete(controller) };
}

/**
 * Settles like `work`. Rejects with the signal's reason as soon as the signal is aborted, even if
 * `work` still runs.
 */
export function raceAbort<Result>(
  work: Promise<Result>,
  signal: PlatformAbortSignal,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", onAbort);
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
    if (signal.aborted) onAbort();
  });
}

/**
 * Resolves when the clock's elapsed time has reached `at`. A timer may fire early, so the time is
 * checked after it. Rejects with the signal's reason as soon as the signal is aborted.
 */
export async function pauseUntil(
  clock: Clock,
  at: number,
  signal: PlatformAbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  for (let restMs = at - clock.elapsed(); restMs > 0; restMs = at - clock.elapsed()) {
    let timer: { cancel(): void } | undefined;
    const delay = new Promise<void>((resolve) => (timer = clock.setTimeout(resolve, restMs)));
    await raceAbort(delay, signal).finally(() => timer?.cancel());
  }
}
