import { startProcess } from "../processes/start-process.js";
import { describeMeasured, formatRounds, formatSpread, type Measured } from "../report/format.js";
import type { BenchTable } from "../report/tables.js";
import { spreads } from "../statistics.js";
import type { CallsSpec } from "../verification/calls.js";
import { BARE_HMAC } from "../verification/bare-hmac.js";
import type { PartContext } from "./part-context.js";

const BODY_BYTES = [700, 64 * 1024];
/** Milliseconds for each verifier, of each second that a server would get. */
const SHARE_OF_SECOND_MS = 60;

export type VerificationResult = Awaited<ReturnType<typeof measureVerification>>;

/** The cost of checking one signature. */
export async function measureVerification({ rounds, seconds, progress }: PartContext) {
  const rows = [];
  for (const bodyBytes of BODY_BYTES) {
    const measured: Record<string, number>[] = [];
    for (let round = 0; round < rounds; round++) {
      // A new process each time: V8 compiles the code differently in each.
      const calls = startProcess("verification/calls.js");
      try {
        const spec: CallsSpec = { bodyBytes, ms: seconds * SHARE_OF_SECOND_MS };
        measured.push(await calls.ask("calls", spec));
      } finally {
        await calls.stop();
      }
      progress(`verify ${round + 1}  ${bodyBytes} bytes`);
    }
    for (const name of Object.keys(measured[0] ?? {})) {
      const microsOf = (round: Record<string, number>, of: string): number => round[of] ?? Number.NaN;
      const figures = spreads(measured, {
        microsPerCall: (round) => microsOf(round, name),
        ratio: (round) => microsOf(round, name) / microsOf(round, BARE_HMAC),
      });
      rows.push({ name, bodyBytes, ...figures });
    }
  }
  return { rounds, rows: rows.sort((a, b) => a.bodyBytes - b.bodyBytes || a.ratio.median - b.ratio.median) };
}

export function verificationTable(result: Measured<VerificationResult>): BenchTable {
  const { rows, rounds } = result;
  return {
    title: "Checking one signature",
    columns: ["", "body bytes", "CPU µs/call", "× one bare HMAC"],
    rows: rows.map((row) => ({
      cells: [
        row.name,
        row.bodyBytes.toLocaleString("en-US"),
        formatSpread(row.microsPerCall),
        formatSpread(row.ratio),
      ],
      isOurs: row.name.startsWith("signalbox"),
    })),
    notes: [
      `${formatRounds(rounds)} Each in a process of its own, all in turn, from the bytes of the body.`,
      "svix and standardwebhooks parse the JSON too, and cannot do without.",
    ],
    measured: describeMeasured(result),
  };
}
