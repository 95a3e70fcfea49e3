import { expect } from "vitest";
import type { CheckResult } from "../../../../src/cli/probe/check/check-context.js";
import type { Summary } from "../../../../src/cli/probe/check/report-checks.js";
import { callCli } from "../../call-cli.js";
import { ndjson } from "../../run-cli.js";
import type { ProcessReceiver } from "./serve-process.js";

interface SummaryRow {
  summary: Summary & { ok: boolean; complete: boolean; clockOffsetMs: number };
}

/** Runs `signalbox check` and reads its NDJSON. */
export async function runCheck(url: string, ...args: string[]) {
  const run = await callCli(["check", url, "--json", ...args]);
  const lines = ndjson<CheckResult | SummaryRow>(run);
  const last = lines.at(-1);
  expect(last, run.stderr).toHaveProperty("summary");
  const rows = lines.slice(0, -1) as CheckResult[];
  const ids = (wanted: Partial<CheckResult>): string[] =>
    rows.filter((row) => isMatch(row, wanted)).map(({ id }) => id);
  return {
    run,
    rows,
    summary: (last as SummaryRow).summary,
    failed: ids({ kind: "required", outcome: "failed" }),
    advice: ids({ kind: "advised", outcome: "failed" }),
    skipped: ids({ outcome: "skipped" }),
  };
}

function isMatch(row: CheckResult, { kind = row.kind, outcome }: Partial<CheckResult>): boolean {
  return row.kind === kind && row.outcome === outcome;
}

/** With a restart. */
export const checkAll = ({ url, restartCommand }: ProcessReceiver, ...args: string[]) =>
  runCheck(url, "--restart-command", restartCommand, ...args);
