import { expect } from "vitest";
import { checkAll } from "../cli/check/run-check.js";
import { isMissing, serveProcess, type Language } from "../cli/check/serve-process.js";
import { testWith } from "../prerequisites.js";

/** What a plain server of that language does otherwise, and the document allows. */
const HABITS = {
  // http.server knows no chunks and no 405, and takes the first of two headers.
  python: [
    "signature.form",
    "bodies.chunked",
    "bodies.limit",
    "bodies.compressed",
    "methods.other",
    "answers.error-envelope",
    "answers.json",
    "answers.nosniff",
  ],
  perl: [
    "dedupe.told",
    "bodies.chunked",
    "bodies.limit",
    "bodies.compressed",
    "answers.error-envelope",
    "answers.nosniff",
  ],
} as const satisfies Partial<Record<Language, readonly string[]>>;

const OTHER_FAULTS = {
  python: [
    ["signs-reserialised", ["signature.raw-bytes"]],
    ["past-only", ["age.future"]],
    ["looks-then-inserts", ["dedupe.simultaneous"]],
  ],
  perl: [
    ["no-age-check", ["age.past", "age.future"]],
    ["answers-any-challenge", ["handshake.signed"]],
    ["no-dedupe", ["dedupe.once"]],
    ["forgets-on-restart", ["dedupe.restart"]],
  ],
} as const;

for (const language of ["python", "perl"] as const) {
  testWith(!isMissing(language))(`a right receiver in ${language} passes what is required`, async () => {
    const { run, failed, advice, skipped } = await checkAll(await serveProcess(language));
    expect({ failed, advice, skipped }).toEqual({ failed: [], advice: HABITS[language], skipped: [] });
    expect(run.exitCode).toBe(0);
  });

  testWith(!isMissing(language)).each([...OTHER_FAULTS[language]])(
    `in ${language}, %s is caught by its own check`,
    async (fault, expected) => {
      const receiver = await serveProcess(language, fault);
      const { run, failed } = await checkAll(receiver, "--skip", "age.bounds", "--skip", "age.exactly");
      expect(failed).toEqual(expected);
      expect(run.exitCode).toBe(1);
    },
  );
}
