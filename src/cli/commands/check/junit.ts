import { printable } from "../../console/printable.js";
import type { CheckKind, CheckResult, Probe } from "./check.js";

export interface JunitOptions {
  /** An advice that is not followed is a failure, and so is something required that was skipped. */
  strict: boolean;
  /** Why the run ended before its last check; `null` when it did not. */
  stoppedBy: string | null;
}

/**
 * The results as JUnit XML: a suite for each kind. Like the exit code, only `strict` makes a failure of an advice that is not
 * followed, and of something required that was skipped; else they are skipped cases. A run that was cut short has an error, since
 * all results until then may be good.
 */
export function junitOf(results: readonly CheckResult[], { strict, stoppedBy }: JunitOptions): string {
  const suites = (["required", "advised"] as const).map((kind) => suiteOf(kind, results, strict));
  if (stoppedBy !== null) suites.push(stoppedSuite(stoppedBy));
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="signalbox check">\n${suites.join("")}</testsuites>\n`;
}

function suiteOf(kind: CheckKind, results: readonly CheckResult[], strict: boolean): string {
  const own = results.filter((result) => result.kind === kind);
  const isFailure = ({ outcome }: CheckResult): boolean => {
    if (outcome === "failed") return kind === "required" || strict;
    return outcome === "skipped" && kind === "required" && strict;
  };
  const failures = own.filter(isFailure).length;
  const skipped = own.filter((result) => result.outcome !== "passed" && !isFailure(result)).length;
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
  const message = outcome === "skipped" ? reason : title;
  const element = isFailure
    ? `<failure type="${kind}" message="${xml(message)}">${xml(detailsOf(result))}</failure>`
    : `<skipped message="${xml(outcome === "skipped" ? message : `advised, not followed: ${message}`)}"/>`;
  const output = !isFailure && outcome === "failed" ? `      <system-out>${xml(detailsOf(result))}</system-out>\n` : "";
  return `${open}>\n      ${element}\n${output}    </testcase>\n`;
}

function detailsOf({ outcome, probes, hint, reason = "" }: CheckResult): string {
  if (outcome === "skipped") return `not proved: ${reason}`;
  const bad = probes.filter(({ ok }) => !ok);
  return [...bad.map(describe), `fix: ${hint}`].join("\n");
}

function describe({ name, sent, expected, came }: Probe): string {
  return `${name}: sent ${sent}; expected ${expected}; came ${came}`;
}

const ENTITIES = new Map([
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ['"', "&quot;"],
  ["'", "&apos;"],
]);

/** Text for an element or an attribute. XML 1.0 has no way to write a control character or half a surrogate pair. */
function xml(text: string): string {
  const lines = text.split("\n").map(printable).join("\n");
  return lines.replaceAll(/[\ufffe\uffff]/g, "?").replaceAll(/[&<>"']/g, (character) => ENTITIES.get(character) ?? "");
}
