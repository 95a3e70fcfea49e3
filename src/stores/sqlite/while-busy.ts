import { isBusy } from "./store-error.js";

/** How long a commit goes on trying while another process writes, without blocking the event loop. */
const BUSY_LIMIT_MS = 2500;

/** Tries again as long as another process writes, a little later each time and by chance. The event loop goes on. */
export async function whileBusy<Result>(attempt: () => Result): Promise<Result> {
  const startedAt = performance.now();
  for (let tries = 1; ; tries++) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error) || performance.now() - startedAt > BUSY_LIMIT_MS) throw error;
      const delayMs = 1 + Math.random() * Math.min(25, 2 ** tries);
      await new Promise((resume) => setTimeout(resume, delayMs));
    }
  }
}
