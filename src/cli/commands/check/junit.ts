import { printable } from "../../console/printable.js";
import type { CheckKind, CheckResult } from "./check.js";

export interface JunitOptions {
  /** Whether an advised check that failed, and a required check that was skipped, count as failures. */
  strict: boolean;
  /** Why the run ended before its last check; `null` for a complete run. */
  stoppedBy: string | null;
}

/**
 * The results as JUnit XML: a suite for each kind. A check is a failure in the file if it makes the exit code 1. Without `strict`,
 * an advised check that failed is a skipped case. For a run that ended early an error is added, because otherwise a build server
 * would show success if all checks until then had passed.
 */
export function junitOf(results: readonly CheckResult[], { strict, stoppedBy }: JunitOptions): string {
  const suites = (["required", "advised"] as const).map((kind) => suiteOf(kind, results, strict));
  if (stoppedBy !== null) suites.push(stoppedSuite(stoppedBy));
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="signalbox check">\n${suites.join("")}</testsuites>\n`;
}

function suiteOf(kind: CheckKind, results: readonly CheckResult[], strict: boolean): string {
  const own = results.filter((result) => result.kind === kind);
  const isFailure = ({ outcome }: CheckResult): boolean =>
    kind === "required" ? outcome === "failed" || (strict && outcome === "skipped") : strict && outcome === "failed";
  const failures = own.filter(isFailure).length;
  const skipped = own.filter(({ outcome }) => outcome !== "passed").length - failures;
  const seconds = own.reduce((sum, result) => sum + result.seconds, 0);
  const counts = `tests="${own.length}" failures="${failures}" errors="0" skipped="${skipped}"`;
  const cases = own.map((result) => caseOf(result, isFailure(result)));
  return `  <testsuite name="${kind}" ${counts} time="${seconds.toFixed(3)}">\n${cases.join("")}  </testsuite>\n`;
}

function stoppedSuite(why: string): string {
  return [
    '  <testsuite name="run" tests="1" failures="0" errors="1" skipped="0" time="0.000">',
    '    <testcase classname="signalbox.check.run" name="run.complete" time="0.000">',
    `      <error type="stopped" message="${xml(why)}"/>`,
    "    </testcase>",
    "  </testsuite>\n",
  ].join("\n");
}

function caseOf(result: CheckResult, isFailure: boolean): string {
  const { id, kind, title, outcome, seconds, reason = "" } = result;
  const open = `    <testcase classname="signalbox.check.${kind}" name="${xml(id)}" time="${seconds.toFixed(3)}"`;
  if (outcome === "passed") return `${open}/>\n`;
  const message = xml(outcome === "skipped" ? reason : title);
  const element = isFailure
    ? `<failure type="${kind}" message="${message}">${xml(detailsOf(result))}</failure>`
    : `<skipped message="${outcome === "failed" ? "advised, not followed: " : ""}${message}"/>`;
  return `${open}>\n      ${element}\n    </testcase>\n`;
}

function detailsOf({ outcome, probes, hint, reason = "" }: CheckResult): string {
  if (outcome === "skipped") return `not proved: ${reason}`;
  const bad = probes.filter(({ ok }) => !ok);
  const lines = bad.map(
    ({ name, sent, expected, actual }) => `${name}: sent ${sent}; expected ${expected}; actual ${actual}`,
  );
  return [...lines, `fix: ${hint}`].join("\n");
}

const ENTITIES = new Map([
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ['"', "&quot;"],
  ["'", "&apos;"],
]);

/** Text for an element or an attribute. Characters that XML 1.0 does not allow are escaped or replaced. */
function xml(text: string): string {
  const lines = text.split("\n").map(printable).join("\n");
  return lines.replaceAll(/[\ufffe\uffff]/g, "?").replaceAll(/[&<>"']/g, (character) => ENTITIES.get(character) ?? "");
}
