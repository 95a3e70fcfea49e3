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

test.each(readdirSync(FOLDER))(
  "%s: over HTTP, by the client and by the tools of the remote MCP each step gets what the file says",
  async (name) => {
    const file = join(FOLDER, name);
    const transcript = readTranscript(file);
    const overHttp = await playTranscript(transcript, "http");
    await expect(await transcriptText(overHttp, file)).toMatchFileSnapshot(file);
    for (const door of DOORS.slice(1)) {
      const { steps } = await playTranscript(transcript, door);
      expectSame(steps, overHttp.steps, door);
    }
  },
);
