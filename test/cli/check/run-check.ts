import { expect } from "vitest";
import { callCli } from "../call-cli.js";
import { ndjson, type CliRun } from "../run-cli.js";
import type { ProcessReceiver } from "./serve-process.js";

export interface CheckRow {
  id: string;
  kind: "required" | "advised";
  outcome: "passed" | "failed" | "skipped";
  reason?: string;
  note?: string;
  hint?: string;
  probes: { name: string; sent: string; expected: string; came: string; ok: boolean }[];
}

type Counts = Record<CheckRow["outcome"], number>;

export interface SummaryRow {
  summary: {
    ok: boolean;
    complete: boolean;
    stoppedBy?: string;
    required: Counts;
    advised: Counts;
    skipped: string[];
    acknowledgements: { count: number; p50Ms: number; p99Ms: number; maxMs: number } | null;
    clockOffsetMs: number;
  };
}

export interface CheckedRun {
  run: CliRun;
  rows: CheckRow[];
  summary: SummaryRow["summary"];
  /** The ids of the required checks that failed. */
  failed: string[];
  /** The ids of the advised checks that failed. */
  advice: string[];
  skipped: string[];
}

/** Runs `signalbox check` and reads its NDJSON. */
export async function runCheck(url: string, ...args: string[]): Promise<CheckedRun> {
  const run = await callCli(["check", url, "--json", ...args]);
  const lines = ndjson<CheckRow | SummaryRow>(run);
  const last = lines.at(-1);
  expect(last, run.stderr).toHaveProperty("summary");
  const rows = lines.slice(0, -1) as CheckRow[];
  const ids = (isIt: (row: CheckRow) => boolean): string[] => rows.filter(isIt).map(({ id }) => id);
  return {
    run,
    rows,
    summary: (last as SummaryRow).summary,
    failed: ids(({ kind, outcome }) => kind === "required" && outcome === "failed"),
    advice: ids(({ kind, outcome }) => kind === "advised" && outcome === "failed"),
    skipped: ids(({ outcome }) => outcome === "skipped"),
  };
}

/** With all that there is to see: a restart, and a count of what was accepted. */
export function checkAll(
  { url, restartCommand, countCommand }: ProcessReceiver,
  ...args: string[]
): Promise<CheckedRun> {
  return runCheck(url, "--restart-command", restartCommand, "--accepted-command", countCommand, ...args);
}
