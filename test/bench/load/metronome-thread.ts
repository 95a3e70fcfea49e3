// Sleeps until the next tick, says so, and sleeps again, until it is terminated.
import { parentPort } from "node:worker_threads";
import type { Beat } from "./metronome.js";

/** Nobody ever wakes it: only the time runs out. */
const never = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

parentPort?.once("message", ({ startNs, gapMs }: Beat) => {
  const sinceStart = (): number => Number(process.hrtime.bigint() - startNs) / 1e6;
  for (let tick = 0; ;) {
    const waitMs = tick * gapMs - sinceStart();
    if (waitMs > 0) Atomics.wait(never, 0, 0, waitMs);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- windows have origins, threads do not
    parentPort?.postMessage(tick);
    tick = Math.max(tick, Math.floor(sinceStart() / gapMs)) + 1;
  }
});
