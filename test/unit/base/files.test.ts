import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolders } from "../../../src/base/files.js";
import { tempFolder } from "../temp-folder.js";

test("what is missing is made from the top down, and each is reported", () => {
  const top = tempFolder();
  const made: string[] = [];
  makeFolders(join(top, "a", "b"), (path) => made.push(path));
  expect(made).toEqual([join(top, "a"), join(top, "a", "b")]);
  makeFolders(join(top, "a", "b", "c"), (path) => made.push(path));
  expect(made.slice(2)).toEqual([join(top, "a", "b", "c")]);
});

test("a folder that another process makes at the same moment will do, a file will not", () => {
  const top = tempFolder();
  const reported: string[] = [];
  makeFolders(join(top, "a", "b"), (path) => {
    reported.push(path);
    if (!existsSync(join(top, "a", "b"))) mkdirSync(join(top, "a", "b"));
  });
  expect(reported).toEqual([join(top, "a")]);
  writeFileSync(join(top, "file"), "");
  expect(() => makeFolders(join(top, "file", "a"))).toThrow(/ENOTDIR/);
});
