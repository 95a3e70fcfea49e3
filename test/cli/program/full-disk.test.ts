import { spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync } from "node:fs";
import { expect } from "vitest";
import { testWith } from "../../prerequisites.js";
import { fillInbox } from "../fill-inbox.js";
import { MAIN } from "../run-cli.js";

/** Takes no byte: each write fails with ENOSPC. Linux and the BSDs have it. */
const FULL = "/dev/full";
const hasFull = existsSync(FULL);

testWith(hasFull)(
  "an export on a full disk is exit 3 with one line (needs /dev/full)",
  async () => {
    const db = await fillInbox([{ eventId: "evt_1" }, { eventId: "evt_2" }]);
    const stdio = ["ignore", openSync(FULL, "w"), "pipe"] as const;
    const run = spawnSync(process.execPath, [MAIN, "inbox", "export", "--db", db], {
      stdio: [...stdio],
      encoding: "utf8",
    });
    closeSync(stdio[1]);
    expect([run.status, run.stderr]).toEqual([
      3,
      "signalbox inbox export: cannot write to stdout (ENOSPC)\n",
    ]);
  },
);
