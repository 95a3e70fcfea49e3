import { startProcess } from "../processes/start-process.js";
import type { VerificationResult, VerificationRow } from "../result.js";
import { spread } from "../statistics.js";
import type { CallsSpec } from "../verification/calls.js";
import { BARE_HMAC } from "../verification/bare-hmac.js";
import type { PartContext } from "./part-context.js";

const BODY_BYTES = [700, 64 * 1024];
/** For each verifier, of each second that a server would get. */
const SHARE_OF_SECOND_MS = 60;

/** What checking one signature costs, beside the HMAC that nobody can do without. */
export async function measureVerification({
  rounds,
  seconds,
  progress,
}: Pick<PartContext, "rounds" | "seconds" | "progress">): Promise<VerificationResult> {
  const rows: VerificationRow[] = [];
  for (const bodyBytes of BODY_BYTES) {
    const measured: Record<string, number>[] = [];
    for (let round = 0; round < rounds; round++) {
      // A new process each time: what V8 makes of the code differs from one to the next.
      const calls = startProcess("verification/calls.js");
      try {
        const spec: CallsSpec = { bodyBytes, ms: seconds * SHARE_OF_SECOND_MS };
        measured.push(await calls.ask("calls", spec));
      } finally {
        await calls.stop();
      }
      progress(`verify ${round + 1}  ${bodyBytes} bytes`);
    }
    const names = Object.keys(measured[0] ?? {});
    rows.push(...names.map((name) => toRow(name, bodyBytes, measured)));
  }
  return { rounds, rows: rows.sort((a, b) => a.bodyBytes - b.bodyBytes || a.ratio.median - b.ratio.median) };
}

function toRow(name: string, bodyBytes: number, rounds: readonly Record<string, number>[]): VerificationRow {
  const micros = rounds.map((round) => round[name] ?? Number.NaN);
  const bare = rounds.map((round) => round[BARE_HMAC] ?? Number.NaN);
  return {
    name,
    bodyBytes,
    microsPerCall: spread(micros),
    ratio: spread(micros.map((value, round) => value / (bare[round] ?? Number.NaN))),
  };
}
