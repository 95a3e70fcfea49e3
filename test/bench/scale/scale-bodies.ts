import { runClosedLoopRound, type ClosedLoopRound } from "../parts/closed-loop-round.js";
import { rotated, type PartContext } from "../parts/part-context.js";
import type { ScaleBodiesResult, ScaleBodiesRow } from "../result.js";
import type { Server } from "../servers/catalogue.js";
import { spread, type Spread } from "../statistics.js";

const SMALL = 1024;
const BODY_BYTES = [SMALL, 64 * 1024];
const MEGABYTE = 1e6;

/** Whether large bodies cost what their bytes cost, and no more. */
export async function measureScaleBodies(context: PartContext): Promise<ScaleBodiesResult> {
  const { servers, rounds, connections, progress } = context;
  const rows: ScaleBodiesRow[] = [];
  for (const server of servers) {
    const measured = new Map<number, ClosedLoopRound[]>(BODY_BYTES.map((bytes) => [bytes, []]));
    for (let round = 0; round < rounds; round++) {
      for (const bodyBytes of rotated(BODY_BYTES, round)) {
        const result = await runClosedLoopRound(context, server, { bodyBytes });
        measured.get(bodyBytes)?.push(result);
        progress(
          `scale-bodies ${round + 1}  ${server.name.padEnd(18)} ${String(bodyBytes).padStart(6)} bytes  ${result.requestsPerSecond.toFixed(0)}/s  ${((result.requestsPerSecond * bodyBytes) / MEGABYTE).toFixed(1)} MB/s`,
        );
      }
    }
    const small = measured.get(SMALL) ?? [];
    rows.push(...BODY_BYTES.map((bytes) => toRow(server, bytes, measured.get(bytes) ?? [], small)));
  }
  return { connections, rounds, rows };
}

function toRow(
  { name, label }: Server,
  bodyBytes: number,
  rounds: readonly ClosedLoopRound[],
  small: readonly ClosedLoopRound[],
): ScaleBodiesRow {
  const over = (valueOf: (round: ClosedLoopRound) => number): Spread => spread(rounds.map(valueOf));
  return {
    server: name,
    label,
    bodyBytes,
    requestsPerSecond: over((round) => round.requestsPerSecond),
    megabytesPerSecond: over((round) => (round.requestsPerSecond * bodyBytes) / MEGABYTE),
    cpuMicrosPerRequest: over((round) => round.cpuMicrosPerRequest),
    ratio: spread(
      rounds.map(
        (round, index) =>
          (round.requestsPerSecond * bodyBytes) / ((small[index]?.requestsPerSecond ?? Number.NaN) * SMALL),
      ),
    ),
  };
}
