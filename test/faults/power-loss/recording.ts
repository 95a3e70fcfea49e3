import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { isOfInbox } from "./judge-state.js";
import { readRecording, type Call } from "./read-recording.js";
import { createRecordedDisk } from "./recorded-disk.js";
import {
  INBOX,
  runRecorded,
  type RecorderFolders,
  type RunOptions,
  type SelfSender,
} from "./recorder.js";
import { filesNow } from "./survivors.js";

/** Long enough for the next commits to be written while a sync of the last one runs. */
const SYNC_MICROSECONDS = 1000;

type Run = SelfSender & RunOptions;

/**
 * One receiver after the other on the same files. Those that have a kill point are killed there.
 */
export async function recordRuns(
  folders: RecorderFolders,
  runs: readonly Run[],
  isFolderThere = true,
): Promise<Call[]> {
  if (isFolderThere) mkdirSync(join(folders.recorded, dirname(INBOX)));
  let calls: Call[] = [];
  for (const run of runs) {
    const {
      kill,
      failSync,
      failBeside,
      script,
      isReversed,
      syncMicroseconds = SYNC_MICROSECONDS,
      ...sender
    } = run;
    const options = { kill, failSync, failBeside, script, isReversed, syncMicroseconds };
    const how = await runRecorded(folders, sender, options);
    expect(how).toBe(kill === undefined ? "done" : "killed");
    calls = readRecording(folders.log);
    expectNothingUnseen(folders, calls, isFolderThere);
  }
  return calls;
}

/** A write that went past the recorder would show here: the real files are not as recorded. */
function expectNothingUnseen(
  { recorded }: RecorderFolders,
  calls: readonly Call[],
  isFolderThere: boolean,
): void {
  const inboxFolder = dirname(INBOX);
  const disk = createRecordedDisk({ folders: isFolderThere ? ["", inboxFolder] : [""] });
  for (const call of calls) disk.apply(call);
  const files = [...filesNow(disk)].filter(([name]) => isOfInbox(name));
  const names = readdirSync(join(recorded, inboxFolder)).map((name) => join(inboxFolder, name));
  expect(files.map(([name]) => name).sort()).toEqual(names.filter(isOfInbox).sort());
  for (const [name, bytes] of files) {
    expect(bytes.equals(readFileSync(join(recorded, name))), `${name} is as recorded`).toBe(true);
  }
}
