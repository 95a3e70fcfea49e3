import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { secretFile } from "../../../../../src/kit/receiver/secrets/secret-file.js";
import { errorOf } from "../../../signalbox-error-of.js";
import { tempFolder } from "../../../temp-folder.js";

// What a test writes with another tool, or again, is to be kept from others too.
beforeEach(() => {
  const before = process.umask(0o077);
  onTestFinished(() => void process.umask(before));
});

/** A file that is not there yet, in a folder of its own. */
function newFile(text?: string): { path: string; source: ReturnType<typeof secretFile> } {
  const path = join(tempFolder(), "signals.secret");
  if (text !== undefined) writeFileSync(path, text);
  return { path, source: secretFile(path) };
}

/** As a file looks that nobody has changed for a while. */
function longAgo(path: string): void {
  const now = Date.now();
  vi.spyOn(Date, "now").mockReturnValue(now + 60_000);
  onTestFinished(() => void vi.restoreAllMocks());
  utimesSync(path, now / 1000, now / 1000);
}

test.each([
  ["whsec_a\r\nwhsec_b\nwhsec_c\n", ["whsec_a", "whsec_b", "whsec_c"]],
  ["\nwhsec_a\n \t\n\nwhsec_b\n\n", ["whsec_a", "whsec_b"]],
  // What may belong to one is kept, and a byte order mark does not.
  [" whsec_a \n#whsec_b\n", [" whsec_a ", "#whsec_b"]],
  ["\ufeffZürich 🚉", ["Zürich 🚉"]],
])("the lines of the file are the secrets: %j", (text, secrets) => {
  expect(newFile(text).source.lookUp()).toEqual(secrets);
});

test("the file need not be there yet, nor hold anything, nor stay; each change counts from the next look on", () => {
  const { path, source } = newFile();
  expect(source.lookUp()).toEqual([]);
  writeFileSync(path, " \n\n");
  expect(source.lookUp()).toEqual([]);
  // Also one that keeps size and times.
  for (let round = 0; round < 200; round++) {
    const secrets = [`whsec_${100 + round}`, "whsec_b"];
    writeFileSync(path, secrets.join("\n"));
    expect(source.lookUp()).toEqual(secrets);
  }
  rmSync(path);
  expect(source.lookUp()).toEqual([]);
});

test("a file that another was renamed over is read anew, long after", () => {
  const { path, source } = newFile("whsec_a\n");
  longAgo(path);
  expect(source.lookUp()).toEqual(["whsec_a"]);
  writeFileSync(`${path}.new`, "whsec_b\n");
  renameSync(`${path}.new`, path);
  expect(source.lookUp()).toEqual(["whsec_b"]);
});

test("a file is read again while it is too young to tell changes by its times, and then no more", () => {
  const { path, source } = newFile("whsec_a\n");
  const early = source.lookUp();
  const lines = vi.spyOn(String.prototype, "split");
  onTestFinished(() => void vi.restoreAllMocks());
  expect(source.lookUp()).toBe(early);
  expect(lines).toHaveBeenCalledTimes(1);
  longAgo(path);
  expect(source.lookUp()).toBe(early);
  lines.mockClear();
  expect(source.lookUp()).toBe(early);
  expect(lines).not.toHaveBeenCalled();
});

const UNREADABLE: readonly (readonly [why: string, make: (path: string) => void])[] = [
  ["not a regular file", (path) => mkdirSync(path)],
  // A pipe that nobody writes to.
  ["not a regular file", (path) => execFileSync("mkfifo", [path])],
  ["ELOOP", (path) => symlinkSync(path, path)],
  ["more than 65536 bytes", (path) => writeFileSync(path, "x".repeat(65_537))],
];

test.each(UNREADABLE)("what cannot be read is an error, until it can: %s", (why, make) => {
  const { path, source } = newFile("whsec_a\n");
  expect(source.lookUp()).toEqual(["whsec_a"]);
  const open = () => (process.platform === "linux" ? readdirSync("/proc/self/fd").length : 0);
  rmSync(path);
  make(path);
  const before = open();
  for (let round = 0; round < 20; round++) {
    const { code, message } = errorOf(() => source.lookUp());
    expect(code).toBe("secret_invalid");
    expect(message).toContain(`${path} cannot be read (${why})`);
  }
  expect(open()).toBe(before);
  rmSync(path, { recursive: true });
  writeFileSync(path, "whsec_b\n");
  expect(source.lookUp()).toEqual(["whsec_b"]);
});

test("a path is a text, and a relative one is meant from where it was given", () => {
  for (const path of ["", undefined])
    expect(errorOf(() => secretFile(path as string)).code).toBe("option_invalid");
  const { path } = newFile("whsec_a\n");
  const before = process.cwd();
  onTestFinished(() => process.chdir(before));
  process.chdir(dirname(path));
  const source = secretFile("signals.secret");
  process.chdir(before);
  expect(source.lookUp()).toEqual(["whsec_a"]);
});

test.skipIf(process.platform === "win32")("a file that everybody may use is told of, once", () => {
  const warn = vi.spyOn(process, "emitWarning").mockReturnValue();
  onTestFinished(() => void vi.restoreAllMocks());
  const { path, source } = newFile("whsec_a\n");
  chmodSync(path, 0o640);
  source.lookUp();
  expect(warn).not.toHaveBeenCalled();
  chmodSync(path, 0o644);
  expect([source.lookUp(), source.lookUp()]).toEqual([["whsec_a"], ["whsec_a"]]);
  appendFileSync(path, "whsec_b\n");
  source.lookUp();
  expect(warn).toHaveBeenCalledTimes(1);
  expect(warn.mock.calls[0]).toEqual([
    expect.stringContaining(path),
    expect.objectContaining({ code: "SIGNALBOX_SECRET_FILE_OPEN" }),
  ]);
  expect(String(warn.mock.calls[0]?.[0])).not.toContain("whsec");
});

test("more is expected while there is a lock beside the file, or the one that a link leads to, for a minute", () => {
  const { path, source } = newFile();
  const { path: target } = newFile("whsec_a\n");
  symlinkSync(target, path);
  const lock = `${target}.lock`;
  for (const linked of [source, secretFile(target)]) {
    expect(linked.lookUp()).toEqual(["whsec_a"]);
    expect(linked.expectsMore()).toBe(false);
    writeFileSync(lock, "");
    expect(linked.expectsMore()).toBe(true);
    // Left behind by somebody who died.
    const aMinuteAgo = Date.now() / 1000 - 61;
    utimesSync(lock, aMinuteAgo, aMinuteAgo);
    expect(linked.expectsMore()).toBe(false);
    rmSync(lock);
  }
});
