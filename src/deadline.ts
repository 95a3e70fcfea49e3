import type { Clock } from "./clock.js";

/** What `work` gives, or `late` when it takes longer. The work goes on; what it gives then is dropped. */
export function withDeadline<Result, Late>(
  work: Promise<Result>,
  clock: Clock,
  delayMs: number,
  late: Late,
): Promise<Result | Late> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimeout(() => resolve(late), delayMs);
    work.then(resolve, reject).finally(() => timer.cancel());
  });
}
