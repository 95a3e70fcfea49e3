import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { secretFile } from "../../../../src/kit/receiver/secret-file.js";
import { errorOf } from "../../signalbox-error-of.js";
import { tempFolder } from "../../temp-folder.js";

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
  ["one", "whsec_a", ["whsec_a"]],
  [
    "several, with line ends of either kind",
    "whsec_a\r\nwhsec_b\nwhsec_c\n",
    ["whsec_a", "whsec_b", "whsec_c"],
  ],
  ["blank lines between", "\nwhsec_a\n \t\n\nwhsec_b\n\n", ["whsec_a", "whsec_b"]],
  ["what may belong to it: blanks and a hash", " whsec_a \n#whsec_b\n", [" whsec_a ", "#whsec_b"]],
  ["no byte order mark", "\ufeffwhsec_a\n", ["whsec_a"]],
  ["UTF-8", "Zürich 🚉\n", ["Zürich 🚉"]],
])("the lines of the file are the secrets: %s", (_what, text, secrets) => {
  expect(newFile(text).source.lookUp()).toEqual(secrets);
});

test("the file need not be there yet, nor hold anything, nor stay", () => {
  const { path, source } = newFile();
  expect(source.lookUp()).toEqual([]);
  for (const text of ["", " \n\n"]) {
    writeFileSync(path, text);
    expect(source.lookUp()).toEqual([]);
  }
  for (let round = 0; round < 2; round++) {
    writeFileSync(path, "whsec_a\n");
    expect(source.lookUp()).toEqual(["whsec_a"]);
    rmSync(path);
    expect(source.lookUp()).toEqual([]);
  }
});

test("each change counts from the next look on, also one that keeps size and times", () => {
  const { path, source } = newFile("whsec_a\n");
  for (let round = 0; round < 200; round++) {
    const secrets = [`whsec_${100 + round}`, "whsec_b"];
    writeFileSync(path, secrets.join("\n"));
    expect(source.lookUp()).toEqual(secrets);
  }
  appendFileSync(path, "\nwhsec_c\n");
  expect(source.lookUp()).toHaveLength(3);
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

const UNREADABLE: readonly (readonly [what: string, why: string, make: (path: string) => void])[] =
  [
    ["a folder", "not a regular file", (path) => mkdirSync(path)],
    [
      "a pipe that nobody writes to",
      "not a regular file",
      (path) => execFileSync("mkfifo", [path]),
    ],
    ["a link to itself", "ELOOP", (path) => symlinkSync(path, path)],
    [
      "more than a file of secrets can be",
      "more than 65536 bytes",
      (path) => writeFileSync(path, "x".repeat(65_537)),
    ],
  ];

test.each(UNREADABLE)("what cannot be read is an error, until it can: %s", (_what, why, make) => {
  const { path, source } = newFile("whsec_a\n");
  expect(source.lookUp()).toEqual(["whsec_a"]);
  const open = () => readdirSync("/proc/self/fd").length;
  rmSync(path);
  make(path);
  const before = process.platform === "linux" ? open() : 0;
  for (let round = 0; round < 20; round++) {
    const error = errorOf(() => source.lookUp());
    expect(error.code).toBe("secret_invalid");
    expect(error.message).toContain(`${path} cannot be read (${why})`);
  }
  if (process.platform === "linux") expect(open()).toBe(before);
  rmSync(path, { recursive: true });
  writeFileSync(path, "whsec_b\n");
  expect(source.lookUp()).toEqual(["whsec_b"]);
});

test("a path that is no text is refused at once", () => {
  for (const path of ["", undefined, 7]) {
    expect(errorOf(() => secretFile(path as string)).code).toBe("option_invalid");
  }
});

test("a relative path is meant from where it was given", () => {
  const folder = realpathSync(tempFolder());
  const { path } = newFile("whsec_a\n");
  const elsewhere = process.cwd();
  onTestFinished(() => process.chdir(elsewhere));
  process.chdir(join(path, ".."));
  const source = secretFile("signals.secret");
  process.chdir(folder);
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

test("more is expected while there is a lock beside the file, for a minute", () => {
  const { path, source } = newFile("whsec_a\n");
  source.lookUp();
  expect(source.expectsMore()).toBe(false);
  writeFileSync(`${path}.lock`, "");
  expect(source.expectsMore()).toBe(true);
  // Left behind by somebody who died.
  const aMinuteAgo = Date.now() / 1000 - 61;
  utimesSync(`${path}.lock`, aMinuteAgo, aMinuteAgo);
  expect(source.expectsMore()).toBe(false);
  rmSync(`${path}.lock`);
  expect(source.expectsMore()).toBe(false);
});

test("the lock is looked for beside the file that a link leads to", () => {
  const { path, source } = newFile();
  const { path: target } = newFile("whsec_a\n");
  symlinkSync(target, path);
  expect(source.lookUp()).toEqual(["whsec_a"]);
  writeFileSync(`${target}.lock`, "");
  expect(source.expectsMore()).toBe(true);
});
