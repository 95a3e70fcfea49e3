import { startProcess } from "../processes/start-process.js";
import { formatCount, formatRounds, nameOf, spreadOf } from "../report/format.js";
import { makeTable, type PartFindings } from "../report/tables.js";
import { median } from "../statistics.js";
import type { CallsSpec } from "../verification/calls.js";
import type { PartContext } from "./part-context.js";

const BODY_BYTES = [700, 64 * 1024];
/** Milliseconds for each verifier, of each second that a server would get. */
const SHARE_OF_SECOND_MS = 60;

interface Row {
  name: string;
  bodyBytes: number;
  /** Microseconds of a call, and of one bare HMAC in the same round. */
  results: readonly { micros: number; bare: number }[];
}

/** The cost of checking one signature. */
export async function measureVerification({
  rounds,
  seconds,
  progress,
}: PartContext): Promise<PartFindings> {
  const rows: Row[] = [];
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
    const names = Object.keys(measured[0] ?? {});
    const [first = ""] = names;
    const verifiers = names.map((name) => ({
      name,
      bodyBytes,
      results: measured.map((round) => ({
        micros: round[name] ?? Number.NaN,
        bare: round[first] ?? Number.NaN,
      })),
    }));
    const ratioOf = ({ results }: Row): number =>
      median(results.map(({ micros, bare }) => micros / bare));
    rows.push(...verifiers.toSorted((a, b) => ratioOf(a) - ratioOf(b)));
  }
  const table = makeTable<Row>(
    "Checking one signature",
    rows,
    [
      ["", ({ name }) => nameOf({ label: name, isOurs: name.startsWith("signalbox") })],
      ["body bytes", ({ bodyBytes }) => formatCount(bodyBytes)],
      ["CPU µs/call", spreadOf(({ micros }) => micros)],
      ["× one bare HMAC", spreadOf(({ micros, bare }) => micros / bare)],
    ],
    [
      `${formatRounds(rounds)} Each in a process of its own, all in turn, from the bytes of the body.`,
      "svix and standardwebhooks parse the JSON too, and cannot do without.",
    ],
  );
  return { tables: [table] };
}
