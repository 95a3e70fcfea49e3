import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { inboxFiles, readRows } from "../inbox-file.js";

test.each(["idle", "counting"])(
  "draining and closing keep the process alive until they are done, also with the thread %s",
  async (thread) => {
    const { db } = inboxFiles();
    const script = new URL("../children/closes-with-nothing-else.mjs", import.meta.url).pathname;
    // Rejects when the process ends with another code than 0.
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [script, db, thread]);
    expect([stdout, stderr]).toEqual(["false\nclosed\n", ""]);
    expect(existsSync(`${db}-wal`)).toBe(false);
    // Given back as it was: an orderly end is no crash.
    expect(readRows(db)).toMatchObject([{ state: "ready", attempts: 0, crashes: 0 }]);
  },
);
