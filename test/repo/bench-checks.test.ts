import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { assertAllKept } from "../bench/parts/assert-all-kept.js";
import type { Server } from "../bench/servers/catalogue.js";

const OURS: Server = { name: "ours", label: "ours", keeps: { file: "inbox.db", table: "inbox" }, isOurs: true };

/** A file with one event in each of these states. */
function folderWith(states: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-bench-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const db = new Database(join(folder, "inbox.db"));
  db.exec("CREATE TABLE inbox (state TEXT)");
  for (const state of states) db.prepare("INSERT INTO inbox VALUES (?)").run(state);
  db.close();
  return folder;
}

test("a file that holds all that was acknowledged, handed off once each, passes", () => {
  const folder = folderWith(["done", "done", "done"]);
  expect(() => assertAllKept(folder, OURS, { acknowledged: 3, handedOff: 3, before: 0 })).not.toThrow();
  expect(() => assertAllKept(folder, OURS, { acknowledged: 1, handedOff: 1, before: 2 })).not.toThrow();
});

test.for([
  ["an event that was acknowledged and is not in the file", ["done", "done"], 2],
  ["an event that was not handed off", ["done", "done", "ready"], 2],
  ["an event that was handed off twice", ["done", "done", "done"], 4],
  ["an event that is still in hand", ["done", "done", "leased"], 3],
  ["an event in the file that nobody sent", ["done", "done", "done", "done"], 3],
] as const)("%s fails the run", ([, states, handedOff]) => {
  const tally = { acknowledged: 3, handedOff, before: 0 };
  expect(() => assertAllKept(folderWith(states), OURS, tally)).toThrow("ours: 3 acknowledged");
});

test("of a server that hands nothing off, the rows alone are counted", () => {
  const insert = { ...OURS, isOurs: false };
  const folder = folderWith(["whatever", "whatever"]);
  expect(() => assertAllKept(folder, insert, { acknowledged: 2, handedOff: null, before: 0 })).not.toThrow();
  expect(() => assertAllKept(folder, insert, { acknowledged: 3, handedOff: null, before: 0 })).toThrow("2 in its file");
});
