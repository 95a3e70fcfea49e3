import type { LoadReport } from "../load/generator.js";
import { formatCount, formatMebibytes } from "../report/format.js";
import { makeTable, type PartFindings } from "../report/tables.js";
import type { Server } from "../servers/catalogue.js";
import type { PartContext } from "./part-context.js";
import { runServer } from "./run-server.js";

const EVENTS = 1_000_000;
/** Events between two samples of the memory. */
const STEP = 100_000;
const LONGEST_STEP_SECONDS = 280;

/** Whether the memory of one process grows with the events that it has handled. */
export async function measureScaleMemory(
  { generator, connections, under, progress }: PartContext,
  server: Server,
): Promise<PartFindings> {
  const samples: { events: number; rssBytes: number }[] = [];
  await runServer(server, { under }, async (running) => {
    for (let sent = 0; sent < EVENTS;) {
      const count = Math.min(STEP, EVENTS - sent);
      // New requests each time, made before the clock starts.
      await generator.ask("prepare", { count, serial: sent });
      const { load, rssBytes } = await running.measure((port): Promise<LoadReport> =>
        generator.ask("closed loop", { port, connections, seconds: LONGEST_STEP_SECONDS, most: count }),
      );
      sent += load.answered;
      samples.push({ events: sent, rssBytes });
      progress(`scale-memory  ${sent} of ${EVENTS} events, ${(rssBytes / 1e6).toFixed(0)} MB resident`);
    }
  });
  // The first and the last show whether it grows.
  const table = makeTable(
    `Resident memory of ${server.label}`,
    [...samples.slice(0, 1), ...samples.slice(-1)],
    [
      ["after events", ({ events }) => `**${formatCount(events)}**`],
      ["memory", ({ rssBytes }) => formatMebibytes(rssBytes)],
    ],
    [],
  );
  return { tables: [table] };
}
