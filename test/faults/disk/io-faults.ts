import { closeSync, openSync, readSync, writeFileSync, writeSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { tempFolder } from "../../unit/temp-folder.js";
import { startReceiver } from "../child-process.js";
import { inboxFiles } from "../inbox-file.js";
import { compile } from "../preload/compile.js";

/** A fault of the disk: which call, on which file, fails how, and when. */
export interface IoFault {
  call: "fdatasync" | "fsync" | "ftruncate" | "pread" | "pwrite" | "open" | "open for writing";
  /** How the file's path ends; `inbox.db` is not `inbox.db-wal`. */
  file: string;
  /** `short`: half is written. `none`: nothing fails, the calls are counted. */
  error: "EIO" | "ENOSPC" | "EROFS" | "short" | "none";
  /** So many calls pass first. @default 0 */
  after?: number;
  /** So many fail. @default all, until healed */
  times?: number;
}

// As in preload/fail-io.c.
const RULES = 16;
const RULE_BYTES = 128;
const { EIO, ENOSPC, EROFS } = constants.errno;
const ERRORS = { EIO, ENOSPC, EROFS, none: -1, short: -2 } as const;
const EVERY_TIME = -1;
const HITS_AT = 16;

/** The faults of one process. They can be switched on and off while it runs. */
export function ioFaults() {
  const library = compile(new URL("../preload/fail-io.c", import.meta.url));
  const path = join(tempFolder(), "rules");
  writeFileSync(path, Buffer.alloc(RULES * RULE_BYTES));
  const rules = openSync(path, "r+");
  onTestFinished(() => closeSync(rules));

  let struck = 0;
  const setActive = (rule: number, active: 0 | 1): void => {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32LE(active);
    writeSync(rules, bytes, 0, 4, rule * RULE_BYTES);
  };
  return {
    /** For a process to have these faults. In libuv's ring no call could be seen. */
    env: { LD_PRELOAD: library, FAIL_IO_RULES: path, UV_USE_IO_URING: "0" },
    /** @returns how often it struck so far */
    strike({ call, file, error, after = 0, times = EVERY_TIME }: IoFault) {
      const rule = struck++;
      if (rule >= RULES) throw new Error(`more than ${RULES} faults in one test`);
      const bytes = Buffer.alloc(RULE_BYTES);
      bytes.writeInt32LE(ERRORS[error], 4);
      bytes.writeInt32LE(after, 8);
      bytes.writeInt32LE(times, 12);
      bytes.write(call, 20, 19);
      bytes.write(file, 40, 87);
      writeSync(rules, bytes, 0, RULE_BYTES, rule * RULE_BYTES);
      // On its own, so that no half-written rule is ever followed.
      setActive(rule, 1);
      return () => {
        const hits = Buffer.alloc(4);
        readSync(rules, hits, 0, 4, rule * RULE_BYTES + HITS_AT);
        return hits.readInt32LE();
      };
    },
    /** From here on everything works. */
    heal() {
      for (let rule = 0; rule < struck; rule++) setActive(rule, 0);
    },
  };
}

/** A receiver whose disk fails when it is told to. @param env what else its process needs */
export async function startFaulty(env: NodeJS.ProcessEnv = {}) {
  const files = inboxFiles();
  const faults = ioFaults();
  const receiver = await startReceiver(files, { ...faults.env, ...env });
  return { files, faults, receiver };
}
