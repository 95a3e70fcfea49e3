import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CheckResult } from "../../../src/cli/commands/check/check.js";
import { junitOf } from "../../../src/cli/commands/check/junit.js";
import { callCli } from "../call-cli.js";
import { tempFiles } from "../temp-files.js";
import { serveProcess } from "./serve-process.js";
import { readXml, type XmlElement } from "./well-formed-xml.js";

const NASTY = `</failure>]]>&amp; "quoted" 'so' <b>\u0000\u001b[31m\ud800 \ufffe\u{1f682}\r\n\u2028`;

const BARE: readonly Omit<CheckResult, "hint" | "title">[] = [
  { id: "a.passed", kind: "required", outcome: "passed", probes: [], seconds: 0.25 },
  {
    id: "a.failed",
    kind: "required",
    outcome: "failed",
    probes: [
      { name: "good", sent: "s", expected: "e", actual: "c", ok: true },
      { name: NASTY, sent: NASTY, expected: NASTY, actual: NASTY, ok: false },
    ],
    seconds: 0.5,
  },
  { id: "a.skipped", kind: "required", outcome: "skipped", probes: [], reason: NASTY, seconds: 0 },
  {
    id: "b.advice",
    kind: "advised",
    outcome: "failed",
    probes: [{ name: "n", sent: "s", expected: "e", actual: "c", ok: false }],
    seconds: 0.125,
  },
];

const RESULTS: readonly CheckResult[] = BARE.map((result) => ({ ...result, title: "Title.", hint: "Hint." }));

const caseOf = (root: XmlElement, id: string): XmlElement | undefined =>
  root.children.flatMap(({ children }) => children).find(({ attributes }) => attributes["name"] === id);

test("a suite for each kind counts its cases, and nothing that came from outside breaks the XML", () => {
  const root = readXml(junitOf(RESULTS, { strict: false, stoppedBy: null }));
  expect(root).toMatchObject({ name: "testsuites", attributes: { name: "signalbox check" } });
  expect(root.children.map(({ name, attributes }) => ({ ...attributes, element: name }))).toEqual([
    { element: "testsuite", name: "required", tests: "3", failures: "1", errors: "0", skipped: "1", time: "0.750" },
    { element: "testsuite", name: "advised", tests: "1", failures: "0", errors: "0", skipped: "1", time: "0.125" },
  ]);
  const [failure] = caseOf(root, "a.failed")?.children ?? [];
  expect(failure).toMatchObject({ name: "failure", attributes: { type: "required", message: "Title." } });
  expect(failure?.text).toContain("</failure>]]>&amp; \"quoted\" 'so' <b>\\u0000\\u001b[31m\\ud800 ?\u{1f682}");
  expect(failure?.text).toContain("fix: Hint.");
  expect(failure?.text).not.toContain("good: sent");
  expect(caseOf(root, "a.passed")?.children).toEqual([]);
});

test("an advice is a failure with --strict, and otherwise a skipped case that says what it is", () => {
  const [lax, strict] = [false, true].map((isStrict) =>
    caseOf(readXml(junitOf(RESULTS, { strict: isStrict, stoppedBy: null })), "b.advice"),
  );
  expect(lax?.children.map(({ name }) => name)).toEqual(["skipped"]);
  expect(lax?.children[0]?.attributes["message"]).toBe("advised, not followed: Title.");
  expect(strict?.children.map(({ name }) => name)).toEqual(["failure"]);
});

test("a run that was cut short is an error, whatever passed until then", () => {
  const passed = RESULTS.slice(0, 1);
  const root = readXml(junitOf(passed, { strict: false, stoppedBy: NASTY }));
  const stopped = root.children.find(({ attributes }) => attributes["name"] === "run");
  expect(stopped?.attributes).toMatchObject({ tests: "1", failures: "0", errors: "1", skipped: "0" });
  const [error] = stopped?.children[0]?.children ?? [];
  expect(error).toMatchObject({ name: "error", attributes: { type: "stopped" } });
  expect(error?.attributes["message"]).toContain("</failure>");
  expect(readXml(junitOf(passed, { strict: false, stoppedBy: null })).children).toHaveLength(2);
});

test("--junit writes what the run found", async () => {
  const { url } = await serveProcess("node", "takes-unsigned");
  const file = join(tempFiles(), "check.xml");
  const run = await callCli(["check", url, "--only", "signature.missing", "--only", "methods.", "--junit", file]);
  expect(run.exitCode).toBe(1);
  const root = readXml(readFileSync(file, "utf8"));
  expect(caseOf(root, "signature.missing")?.children[0]?.text).toContain('; actual 200 {"received":true}');
  expect(caseOf(root, "methods.other")?.children).toEqual([]);
});
