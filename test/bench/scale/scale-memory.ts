import type { LoadReport } from "../load/generator.js";
import type { PartContext } from "../parts/part-context.js";
import { runServer } from "../parts/run-server.js";
import type { ScaleMemoryResult } from "../result.js";
import type { Server } from "../servers/catalogue.js";

/** How many events pass between two looks at the memory. */
const STEP = 100_000;
const LONGEST_STEP_SECONDS = 280;

/** Whether the memory of one process grows with the events that it has seen. */
export async function measureScaleMemory(
  { generator, connections, under, progress }: PartContext,
  server: Server,
  events: number,
): Promise<ScaleMemoryResult> {
  const samples: ScaleMemoryResult["samples"] = [];
  await runServer(server, { under }, async (running) => {
    for (let sent = 0; sent < events;) {
      const count = Math.min(STEP, events - sent);
      // New ones each time, made while no clock runs.
      await generator.ask("prepare", { count, serial: sent });
      const { load, rssBytes } = await running.measure((port): Promise<LoadReport> =>
        generator.ask("closed loop", { port, connections, seconds: LONGEST_STEP_SECONDS, most: count }),
      );
      sent += load.answered;
      samples.push({ events: sent, rssBytes });
      progress(`scale-memory  ${sent} of ${events} events, ${(rssBytes / 1e6).toFixed(0)} MB resident`);
    }
  });
  return { server: server.name, label: server.label, samples };
}
