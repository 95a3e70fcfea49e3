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
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { openSecretWriter } from "../../../src/cli/service/register/secret-writer.js";
import { canMount, smallDisk } from "../../faults/disk/small-disk.js";
import { testWith } from "../../prerequisites.js";
import { tempFiles } from "../temp-files.js";

/** Adds a secret to a file with this text, after something happened to the opened file. */
function add(text: string | null, mode = 0o600, happens?: (path: string) => void) {
  const path = join(tempFiles(text === null ? {} : { "signals.secret": text }), "signals.secret");
  if (text !== null) chmodSync(path, mode);
  const writer = openSecretWriter(path);
  let error = "";
  try {
    happens?.(path);
    writer.add("whsec_new");
  } catch (thrown) {
    error = (thrown as Error).message;
  } finally {
    writer.close();
  }
  const beside = readdirSync(dirname(path)).filter((name) => name !== "signals.secret");
  return { path, error, beside, takesRights: writer.takesRights };
}

test.each([
  ["is not there yet", null, 0o600, "whsec_new\n", 0o600],
  ["has no line end", "whsec_old", 0o600, "whsec_old\nwhsec_new\n", 0o600],
  ["its group may read", "whsec_old\n", 0o640, "whsec_old\nwhsec_new\n", 0o640],
  ["others could read", "whsec_old\n", 0o644, "whsec_old\nwhsec_new\n", 0o600],
  ["holds the secret", "whsec_new\nwhsec_old", 0o600, "whsec_new\nwhsec_old", 0o600],
  ["looks like settings", "WHSEC==\nwhsec_a=b\n", 0o600, "WHSEC==\nwhsec_a=b\nwhsec_new\n", 0o600],
])("what a file holds stays: one that %s", (_what, text, mode, newText, newMode) => {
  const { path, error, beside, takesRights } = add(text, mode);
  expect([error, beside, takesRights]).toEqual(["", [], mode === 0o644]);
  expect([readFileSync(path, "utf8"), statSync(path).mode & 0o777]).toEqual([newText, newMode]);
});

test("what a user writes into the file while the service is asked stays", () => {
  const { path, error, beside } = add("whsec_older\nwhsec_old\n", 0o600, (file) => {
    writeFileSync(file, "whsec_old\nwhsec_by_hand");
    chmodSync(file, 0o640);
  });
  expect([error, beside]).toEqual(["", []]);
  expect(readFileSync(path, "utf8")).toBe("whsec_old\nwhsec_by_hand\nwhsec_new\n");
  expect(statSync(path).mode & 0o777).toBe(0o640);
});

/** The folder has `link` to `signals.secret`, and these files. */
const REFUSED: readonly (readonly [files: Record<string, string>, path: string, says: RegExp])[] = [
  [{}, "none/signals.secret", /its folder does not exist/],
  [{}, ".", /not a regular file/],
  [{ large: "x\n".repeat(40_000) }, "large", /too large for a file of secrets/],
  [{ "signals.secret": "whsec_old\n" }, "link", /link is a link/],
  [{ passwd: "root:x:0:0:root:/root:/bin/bash\n" }, "passwd", /line 1 of .* is not a secret/],
  [{ ".env": "whsec_old\n\nSIGNALS_SECRET=x\n" }, ".env", /line 3 of .*\.env is not a secret/],
  [{ "a.lock": "whsec_other\n" }, "a", /a\.lock exists: another registration/],
];

test.each(REFUSED)("no secret can be kept there, and nothing is changed: %j %s", (...row) => {
  const [files, path, says] = row;
  const folder = tempFiles(files);
  symlinkSync("signals.secret", join(folder, "link"));
  const before = readdirSync(folder);
  expect(() => openSecretWriter(join(folder, path))).toThrow(says);
  expect(readdirSync(folder)).toEqual(before);
});

function replaceLock(file: string): void {
  rmSync(`${file}.lock`);
  writeFileSync(`${file}.lock`, "of another");
}

test.each<[what: string, happens: (file: string) => void, place: string, others: string[]]>([
  // The name that was free before the call is a folder now.
  ["that the file cannot take any more", (file) => mkdirSync(file), "lock", []],
  ["whose lock was deleted", (file) => rmSync(`${file}.lock`), `lock.${process.pid}`, []],
  ["whose lock was replaced", replaceLock, `lock.${process.pid}`, ["signals.secret.lock"]],
])("a secret %s is in a file that the error names", (_what, happens, ending, others) => {
  const { path, error, beside } = add(null, 0, happens);
  const place = `${path}.${ending}`;
  expect(error).toContain(`Its secret is in ${place}: add the secret to ${path}, and delete`);
  expect(beside).toEqual([...others, basename(place)]);
  expect(readFileSync(place, "utf8")).toBe("whsec_new\n");
  expect(statSync(place).mode & 0o777).toBe(0o600);
  if (happens === replaceLock) expect(readFileSync(`${path}.lock`, "utf8")).toBe("of another");
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
