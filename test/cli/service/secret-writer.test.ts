import { spawnSync } from "node:child_process";
import fs, {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openSecretWriter } from "../../../src/cli/service/register/secret-writer.js";
import { canMount, smallDisk } from "../../faults/disk/small-disk.js";
import { testWith } from "../../prerequisites.js";
import { expectGolden } from "../golden.js";
import { tempFiles } from "../temp-files.js";

interface Case {
  /** What the folder holds beside a link to `secrets`. */
  files?: Record<string, string>;
  mode?: number;
  /** The path that is given. */
  path?: string;
  /** What happens while the service is asked. */
  happens?: (file: string) => void;
}

const CASES: Record<string, Case> = {
  "a file that is not there yet": {},
  "a file without a line end": { files: { secrets: "whsec_old" } },
  "a file that its group may read": { files: { secrets: "whsec_old\n" }, mode: 0o640 },
  "a file that others can read": { files: { secrets: "whsec_old\n" }, mode: 0o644 },
  "a file that holds the secret": { files: { secrets: "whsec_new\nwhsec_old" } },
  "a file whose secrets look like settings": { files: { secrets: "WHSEC==\nwhsec_a=b\n" } },
  "a file that a user edits meanwhile": {
    files: { secrets: "whsec_older\nwhsec_old\n" },
    happens(file) {
      writeFileSync(file, "whsec_old\nwhsec_by_hand");
      chmodSync(file, 0o640);
    },
  },
  "a file whose name becomes that of a folder": { happens: (file) => mkdirSync(file) },
  "a file whose lock is replaced": {
    happens(file) {
      rmSync(`${file}.lock`);
      writeFileSync(`${file}.lock`, "of another", { mode: 0o600 });
    },
  },
  "a file in a folder that does not exist": { path: "none/secrets" },
  "a folder": { path: "." },
  "a large file": { files: { secrets: "x\n".repeat(40_000) } },
  "a link": { path: "link" },
  "a file of users": { files: { secrets: "root:x:0:0:root:/root:/bin/bash\n" } },
  "a file of settings": { files: { secrets: "whsec_old\n\nSIGNALS_SECRET=x\n" } },
};

test("what happens to a file, what it holds then, and what is beside it", async () => {
  let text = "";
  for (const [what, { files = {}, mode = 0o600, path = "secrets", happens }] of Object.entries(
    CASES,
  )) {
    const folder = tempFiles(files);
    for (const name of Object.keys(files)) chmodSync(join(folder, name), mode);
    symlinkSync("secrets", join(folder, "link"));
    text += `# ${what}\n`;
    try {
      const writer = openSecretWriter(join(folder, path));
      if (writer.takesRights) text += "(others lose their rights)\n";
      try {
        happens?.(join(folder, path));
        writer.add("whsec_new");
      } finally {
        writer.close();
      }
    } catch (error) {
      text += `${(error as Error).message}\n`;
    }
    for (const entry of readdirSync(folder, { withFileTypes: true }).filter((each) =>
      each.isFile(),
    )) {
      const file = join(folder, entry.name);
      const content = JSON.stringify(readFileSync(file, "utf8").slice(0, 60));
      text += `${entry.name} ${(statSync(file).mode & 0o777).toString(8)} ${content}\n`;
    }
    text += "\n";
  }
  await expectGolden("secret-writer", text, [
    [new RegExp(`lock\\.${process.pid}`, "g"), "lock.PID"],
  ]);
});

/**
 * The syncs and renames of `act`. A sync is listed with what the file held then, or as "folder".
 */
function recordSyncs(file: string, act: () => void): string[] {
  const calls: string[] = [];
  const { fsyncSync, renameSync } = fs;
  fs.fsyncSync = (descriptor) => {
    calls.push(fs.fstatSync(descriptor).isDirectory() ? "folder" : readFileSync(file, "utf8"));
    fsyncSync(descriptor);
  };
  fs.renameSync = (from, to) => {
    calls.push("rename");
    renameSync(from, to);
  };
  syncBuiltinESMExports();
  try {
    act();
  } finally {
    Object.assign(fs, { fsyncSync, renameSync });
    syncBuiltinESMExports();
  }
  return calls;
}

test("a secret is synced before its file gets the name, and the name after that", () => {
  const path = join(tempFiles({ "signals.secret": "whsec_old\n" }), "signals.secret");
  const writer = openSecretWriter(path);
  const calls = recordSyncs(writer.lock, () => writer.add("whsec_new"));
  expect(calls).toEqual(["whsec_old\nwhsec_new\n", "rename", "folder"]);
  writer.close();
});

testWith(canMount)("a disk that gets full has room for the secret (needs a disk)", () => {
  const { folder, fill } = smallDisk(1);
  const path = join(folder, "signals.secret");
  const writer = openSecretWriter(path);
  const free = fill();
  writer.add("whsec_new");
  writer.close();
  expect(readFileSync(path, "utf8")).toBe("whsec_new\n");
  free();
  fill();
  expect(() => openSecretWriter(path)).toThrow(/cannot write the secret file .* \(ENOSPC\)/);
  expect(existsSync(`${path}.lock`)).toBe(false);
});

/** Adds a secret to a file as a user who is in these groups beside its own. */
const AS_USER = `
  import { openSecretWriter } from ${JSON.stringify(new URL("../../../dist/cli/service/register/secret-writer.js", import.meta.url).href)};
  const [path, user, own, ...groups] = process.argv.slice(1);
  process.setgroups(groups.map(Number));
  process.setgid(Number(own));
  process.setuid(Number(user));
  const writer = openSecretWriter(path);
  writer.add("whsec_new");
  writer.close();
`;

test.skipIf(process.getuid?.() !== 0)(
  "the group of a file keeps its right to read, and no other group gets one (needs root)",
  () => {
    const folder = tempFiles({ "signals.secret": "whsec_old\n" });
    const path = join(folder, "signals.secret");
    const [user, own, theirs] = [12_345, 23_456, 34_567];
    chownSync(folder, user, own);
    chownSync(path, user, theirs);
    chmodSync(path, 0o640);
    chmodSync(folder, 0o755);
    const write = (groups: number[]): string => {
      const numbers = [user, own, ...groups].map(String);
      const args = ["--input-type=module", "--eval", AS_USER, path, ...numbers];
      return spawnSync(process.execPath, args, { encoding: "utf8" }).stderr;
    };
    const seen = () => {
      const { gid, mode } = statSync(path);
      return [gid, mode & 0o777, readFileSync(path, "utf8"), readdirSync(folder)];
    };
    expect(write([])).toMatch(/a group that you are not in/);
    expect(seen()).toEqual([theirs, 0o640, "whsec_old\n", ["signals.secret"]]);
    expect(write([theirs])).toBe("");
    expect(seen()).toEqual([theirs, 0o640, "whsec_old\nwhsec_new\n", ["signals.secret"]]);
  },
);
