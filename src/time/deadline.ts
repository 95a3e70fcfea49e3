import type { StartTimeout } from "./timeout-queue.js";

/** What `work` gives, or `late` when its time is over first. The work goes on; what it gives then is dropped. */
export function withDeadline<Result, Late>(
  work: Promise<Result>,
  startTimeout: StartTimeout,
  late: Late,
): Promise<Result | Late> {
  return new Promise((resolve, reject) => {
    const timeout = startTimeout(() => resolve(late));
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
