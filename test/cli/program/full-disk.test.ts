import { spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync } from "node:fs";
import { expect } from "vitest";
import { fillInbox } from "../fill-inbox.js";
import { MAIN } from "../run-cli.js";
import { testWith } from "../../prerequisites.js";

/** Takes no byte: each write fails with ENOSPC. Linux and the BSDs have it. */
const FULL = "/dev/full";
const hasFull = existsSync(FULL);

const COMMANDS: readonly (readonly [words: string, needsInbox: boolean])[] = [
  ["inbox export", true],
  ["inbox stats", true],
  ["--help", false],
];

testWith(hasFull).each(COMMANDS)(
  "%s on a full disk is exit 3 with one line (needs /dev/full)",
  async (words, needsInbox) => {
    const args = words.split(" ");
    if (needsInbox) args.push("--db", await fillInbox([{ eventId: "evt_1" }, { eventId: "evt_2" }]));
    const stdout = openSync(FULL, "w");
    const run = spawnSync(process.execPath, [MAIN, ...args], { stdio: ["ignore", stdout, "pipe"], encoding: "utf8" });
    closeSync(stdout);
    expect(run.status).toBe(3);
    const errors = run.stderr.split("\n").filter((line) => line.startsWith("signalbox"));
    expect(errors).toEqual([expect.stringMatching(/^signalbox[a-z ]*: cannot write to stdout \(ENOSPC\)$/)]);
    expect(run.stderr.trimEnd().split("\n")).toHaveLength(1);
  },
);
