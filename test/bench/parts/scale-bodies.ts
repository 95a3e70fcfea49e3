import { describeMeasured, formatNumber, formatRounds, formatSpread, type Measured } from "../report/format.js";
import type { BenchTable } from "../report/tables.js";
import { serverNamed } from "../servers/catalogue.js";
import { medians, spreads } from "../statistics.js";
import { runClosedLoopRound } from "./closed-loop-round.js";
import { inRounds, type PartContext } from "./part-context.js";

const BODY_BYTES = [1024, 64 * 1024];
const MEGABYTE = 1e6;

export type ScaleBodiesResult = Awaited<ReturnType<typeof measureScaleBodies>>;

/** Whether the cost of a body grows with its bytes, and no faster. */
export async function measureScaleBodies(context: PartContext) {
  const { servers, rounds, connections, progress } = context;
  const rows = [];
  for (const server of servers) {
    const measured = await inRounds(BODY_BYTES, rounds, async (bodyBytes, round) => {
      const result = await runClosedLoopRound(context, server, { bodyBytes });
      const megabytesPerSecond = (result.requestsPerSecond * bodyBytes) / MEGABYTE;
      progress(
        `scale-bodies ${round + 1}  ${server.name.padEnd(18)} ${String(bodyBytes).padStart(6)} bytes  ${result.requestsPerSecond.toFixed(0)}/s  ${megabytesPerSecond.toFixed(1)} MB/s`,
      );
      return { ...result, megabytesPerSecond };
    });
    const small = measured[0]?.results ?? [];
    for (const { value: bodyBytes, results } of measured) {
      const figures = spreads(results, {
        requestsPerSecond: (round) => round.requestsPerSecond,
        megabytesPerSecond: (round) => round.megabytesPerSecond,
        // In bytes a second, against the small bodies in the same round.
        ratio: (round, index) => round.megabytesPerSecond / (small[index]?.megabytesPerSecond ?? Number.NaN),
      });
      const cpu = medians(results, { cpuMicrosPerRequest: (round) => round.cpuMicrosPerRequest });
      rows.push({ server: server.name, bodyBytes, ...figures, ...cpu });
    }
  }
  return { connections, rounds, rows };
}

export function scaleBodiesTable(result: Measured<ScaleBodiesResult>): BenchTable {
  const { rows, connections, rounds } = result;
  return {
    title: `Large bodies, ${connections} connections`,
    columns: ["", "body bytes", "requests/s", "MB/s", "× the small ones, in bytes", "CPU µs/request"],
    rows: rows.map((row) => ({
      cells: [
        serverNamed(row.server).label,
        row.bodyBytes.toLocaleString("en-US"),
        formatSpread(row.requestsPerSecond),
        formatSpread(row.megabytesPerSecond),
        formatSpread(row.ratio),
        formatNumber(row.cpuMicrosPerRequest),
      ],
      isOurs: true,
    })),
    notes: [formatRounds(rounds)],
    measured: describeMeasured(result),
  };
}
