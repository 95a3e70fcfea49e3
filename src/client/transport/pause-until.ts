import type { Clock, ClockTimer } from "../../time/clock.js";
import { openAbortScope } from "./abort-scope.js";
import type { PlatformAbortSignal } from "../platform.js";

/**
 * Resolves when the clock's elapsed time has reached `at`, never before: a timer may fire early, and `at` may have moved on
 * meanwhile. Rejects with the signal's reason at once when that is aborted.
 */
export async function pauseUntil(
  clock: Clock,
  at: () => number,
  signal: PlatformAbortSignal | undefined,
): Promise<void> {
  const scope = openAbortScope({ signal, clock });
  try {
    for (let restMs = at() - clock.elapsed(); restMs > 0; restMs = at() - clock.elapsed()) {
      await pause(clock, restMs, scope.race);
    }
  } finally {
    scope.close();
  }
}

async function pause(clock: Clock, delayMs: number, race: (work: Promise<void>) => Promise<void>): Promise<void> {
  let timer: ClockTimer | undefined;
  const over = new Promise<void>((resume) => (timer = clock.setTimeout(resume, delayMs)));
  try {
    await race(over);
  } finally {
    timer?.cancel();
  }
}
