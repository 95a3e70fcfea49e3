import { expect } from "vitest";
import { checkAll } from "../cli/probe/check/run-check.js";
import { isMissing, serveProcess } from "../cli/probe/check/serve-process.js";
import { testWith } from "../prerequisites.js";

const testWithPython = testWith(!isMissing("python"));

/**
 * The document allows all of this: http.server knows no chunks and no 405, and takes the first of
 * two headers.
 */
const HABITS = [
  "signature.form",
  "bodies.chunked",
  "bodies.limit",
  "bodies.compressed",
  "methods.other",
  "answers.json",
];

testWithPython("a right receiver in Python passes what is required", async () => {
  const { run, failed, advice, skipped } = await checkAll(await serveProcess("python"));
  expect({ failed, advice, skipped }).toEqual({ failed: [], advice: HABITS, skipped: [] });
  expect(run.exitCode).toBe(0);
});

testWithPython(
  "in Python, a body that is parsed and written again is caught by its own check",
  async () => {
    const { run, failed } = await checkAll(await serveProcess("python", "signs-reserialised"));
    expect(failed).toEqual(["signature.raw-bytes"]);
    expect(run.exitCode).toBe(1);
  },
);
