import { formatCount, formatRounds, medianOf, nameOf, spreadOf } from "../report/format.js";
import { makeTable, type PartFindings } from "../report/tables.js";
import type { Server } from "../servers/catalogue.js";
import { runClosedLoopRound, type ClosedLoopRound } from "./closed-loop-round.js";
import { inRounds, type Measured, type PartContext } from "./part-context.js";

const BODY_BYTES = [1024, 64 * 1024];
const MEGABYTE = 1e6;

type Round = ClosedLoopRound & { megabytesPerSecond: number };
type Row = Measured<number, Round> & { server: Server; small: readonly Round[] };

/** Whether the cost of a body grows with its bytes, and no faster. */
export async function measureScaleBodies(context: PartContext): Promise<PartFindings> {
  const { servers, rounds, connections, progress } = context;
  const rows: Row[] = [];
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
    rows.push(...measured.map((row) => ({ ...row, server, small })));
  }
  const table = makeTable<Row>(
    `Large bodies, ${connections} connections`,
    rows,
    [
      ["", ({ server }) => nameOf(server)],
      ["body bytes", ({ value }) => formatCount(value)],
      ["requests/s", spreadOf((round) => round.requestsPerSecond)],
      ["MB/s", spreadOf((round) => round.megabytesPerSecond)],
      // Against the small bodies in the same round.
      [
        "× the small ones, in bytes",
        (row) => {
          const smallOf = (index: number): number => row.small[index]?.megabytesPerSecond ?? Number.NaN;
          return spreadOf((round: Round, index) => round.megabytesPerSecond / smallOf(index))(row);
        },
      ],
      ["CPU µs/request", medianOf((round) => round.cpuMicrosPerRequest)],
    ],
    [formatRounds(rounds)],
  );
  return { tables: [table] };
}
