import { formatCount, formatRounds, medianOf, nameOf, ratioTo, spreadOf } from "../report/format.js";
import { makeTable, type PartFindings } from "../report/tables.js";
import type { Server } from "../servers/catalogue.js";
import { describeRound, rateOf, runClosedLoopRound, type ClosedLoopRound } from "./closed-loop-round.js";
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
      progress(describeRound(`scale-bodies, ${bodyBytes} bytes`, round, server.name, result));
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
      ["requests/s", spreadOf(rateOf)],
      ["MB/s", spreadOf((round) => round.megabytesPerSecond)],
      ["× the small ones, in bytes", (row) => ratioTo((round: Round) => round.megabytesPerSecond, row.small)(row)],
      ["CPU µs/request", medianOf((round) => round.cpuMicrosPerRequest)],
    ],
    [formatRounds(rounds)],
  );
  return { tables: [table] };
}
