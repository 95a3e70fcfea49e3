import type { ClosedLoop } from "../load/closed-loop.js";
import type { LoadReport } from "../load/generator.js";
import type { PartContext } from "./part-context.js";
import type { RunningServer } from "./run-server.js";

/** So many and V8 has compiled what is hot, and the file has its first pages; a slow server gets no further in this time. */
export const WARM_UP_REQUESTS = 8000;
const WARM_UP_SECONDS = 4;

/** Before the clock runs. A short measurement has a short one. */
export async function warmUp(
  running: RunningServer,
  { generator, connections, seconds }: Pick<PartContext, "generator" | "connections" | "seconds">,
  most = WARM_UP_REQUESTS,
): Promise<void> {
  await running.measure((port): Promise<LoadReport> => {
    const loop: ClosedLoop = { port, connections, seconds: Math.min(WARM_UP_SECONDS, seconds * 2), most };
    return generator.ask("closed loop", loop);
  });
}
