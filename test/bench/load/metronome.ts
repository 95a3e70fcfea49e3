import { once } from "node:events";
import { Worker } from "node:worker_threads";

export interface Beat {
  /** Of `process.hrtime.bigint()`, which all threads share. */
  startNs: bigint;
  gapMs: number;
}

/**
 * Ticks to fractions of a millisecond. A timer of the event loop has whole ones, and to turn the
 * loop without waiting would take a core from the server.
 */
export async function createMetronome() {
  const thread = new Worker(new URL("metronome-thread.js", import.meta.url));
  await once(thread, "online");
  return {
    /**
     * Calls back at the start and after each gap, or once for several when it is behind; never too
     * early.
     */
    start(beat: Beat, onTick: () => void): void {
      thread.on("message", onTick);
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- windows have origins, threads do not
      thread.postMessage(beat satisfies Beat);
    },
    stop: () => thread.terminate(),
  };
}
