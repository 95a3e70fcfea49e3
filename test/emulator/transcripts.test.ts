import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  DOORS,
  expectSame,
  playTranscript,
  readTranscript,
  transcriptText,
} from "./play-transcript.js";

const FOLDER = join(import.meta.dirname, "golden");
const FILES = readdirSync(FOLDER).map((name) => join(FOLDER, name));
const named = FILES.map((file) => {
  const { about, rules } = readTranscript(file);
  return [`${about} [${rules.join("] [")}]`, file] as const;
});

// The file is what each step gets over HTTP. The client and the remote MCP must get the same.
// The first one makes the data too, which takes long on a busy machine.
test.each(named)("%s", { timeout: 240_000 }, async (_about, file) => {
  const transcript = readTranscript(file);
  const overHttp = await playTranscript(transcript, "http");
  await expect(await transcriptText(overHttp, file)).toMatchFileSnapshot(file);
  for (const door of DOORS.slice(1)) {
    const { steps } = await playTranscript(transcript, door);
    expectSame(steps, overHttp.steps, door);
  }
});
