import { expect } from "vitest";
import type { AnswerTimes } from "../../../../src/cli/deliveries/send-delivery.js";
import type { CheckResult } from "../../../../src/cli/probe/check/check-context.js";
import type { Summary } from "../../../../src/cli/probe/check/report-checks.js";
import { callCli } from "../../call-cli.js";
import { ndjson, type CliRun } from "../../run-cli.js";
import type { ProcessReceiver } from "./serve-process.js";

interface SummaryRow {
  summary: Summary & {
    ok: boolean;
    complete: boolean;
    stoppedBy?: string;
    acknowledgements: AnswerTimes | null;
    clockOffsetMs: number;
  };
}

export interface CheckedRun {
  run: CliRun;
  rows: CheckResult[];
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
  const lines = ndjson<CheckResult | SummaryRow>(run);
  const last = lines.at(-1);
  expect(last, run.stderr).toHaveProperty("summary");
  const rows = lines.slice(0, -1) as CheckResult[];
  const ids = (isIt: (row: CheckResult) => boolean): string[] =>
    rows.filter(isIt).map(({ id }) => id);
  return {
    run,
    rows,
    summary: (last as SummaryRow).summary,
    failed: ids(({ kind, outcome }) => kind === "required" && outcome === "failed"),
    advice: ids(({ kind, outcome }) => kind === "advised" && outcome === "failed"),
    skipped: ids(({ outcome }) => outcome === "skipped"),
  };
}

/** With a restart. */
export function checkAll(
  { url, restartCommand }: ProcessReceiver,
  ...args: string[]
): Promise<CheckedRun> {
  return runCheck(url, "--restart-command", restartCommand, ...args);
}
