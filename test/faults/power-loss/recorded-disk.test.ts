import { expect, test } from "vitest";
import { createRecordedDisk } from "./recorded-disk.js";
import type { Call } from "./read-recording.js";
import { EVERYTHING, NOTHING, survivorsOf, type Luck } from "./survivors.js";

const NAME = "file";
const SECTOR = 512;

const create: Call = { kind: "create", name: NAME };
const syncNames: Call[] = syncOf("", 100);

function write(offset: number, text: string): Call {
  return { kind: "write", name: NAME, offset, data: Buffer.from(text) };
}

function truncate(size: number): Call {
  return { kind: "truncate", name: NAME, size };
}

function sync(number = 0): Call {
  return { kind: "sync", name: NAME, number, by: "sqlite" };
}

function synced(number = 0): Call {
  return { kind: "synced", name: NAME, number, by: "sqlite" };
}

function syncOf(name: string, number: number): Call[] {
  return [
    { kind: "sync", name, number, by: "sqlite" },
    { kind: "synced", name, number, by: "sqlite" },
  ];
}

/** The text of the file after these calls and a power cut; undefined when it is not there. */
function found(calls: readonly Call[], luck: Luck): string | undefined {
  const disk = createRecordedDisk({ folders: [""] });
  for (const call of calls) disk.apply(call);
  return survivorsOf(disk, luck).get(NAME)?.toString();
}

function luckWith(count: number, isKept: (index: number, sector: number) => boolean): Luck {
  return { name: "chosen", count: (of) => Math.min(of, count), writes: () => isKept };
}

test("a sync covers what was written before it started, and nothing that came while it ran", () => {
  const calls = [create, ...syncNames, write(0, "before"), sync(), write(6, " while"), synced()];
  expect(found(calls, NOTHING)).toBe("before");
  expect(found(calls, EVERYTHING)).toBe("before while");
});

test("a sync that has not ended covers nothing", () => {
  const calls = [create, ...syncNames, write(0, "before"), sync()];
  expect(found(calls, NOTHING)).toBe("");
});

test("of two syncs at once each covers what it found", () => {
  const calls = [create, ...syncNames, write(0, "1"), sync(1), write(1, "2"), sync(2), write(2, "3")];
  expect(found([...calls, synced(1)], NOTHING)).toBe("1");
  expect(found([...calls, synced(2)], NOTHING)).toBe("12");
  expect(found([...calls, synced(2), synced(1)], NOTHING)).toBe("12");
});

test("what a failed sync should have covered is covered by no later one, until its page is written to again", () => {
  const failed: Call = { kind: "sync failed", name: NAME, number: 1, by: "signalbox" };
  const calls = [create, ...syncNames, write(0, "here"), write(4096, "there"), sync(1), failed];
  expect(found([...calls, sync(2), synced(2)], NOTHING)).toBe("");
  expect(found([...calls, sync(2), synced(2)], EVERYTHING)?.replaceAll("\0", "")).toBe("herethere");
  const again = [...calls, write(4096 + 5, " again"), sync(2), synced(2)];
  expect(found(again, NOTHING)).toBe(`${"\0".repeat(4096)}there again`);
});

test("a name that its folder was not synced for is lost with the file, and one that was removed comes back", () => {
  const written = [create, write(0, "text"), sync(), synced()];
  expect(found(written, NOTHING)).toBeUndefined();
  expect(found(written, EVERYTHING)).toBe("text");
  const removed: Call[] = [...written, ...syncNames, { kind: "unlink", name: NAME }];
  expect(found(removed, NOTHING)).toBe("text");
  expect(found(removed, EVERYTHING)).toBeUndefined();
  expect(found([...removed, ...syncOf("", 101)], NOTHING)).toBeUndefined();
});

test("a sector has one version: what was written later brings along what was written before it", () => {
  const calls = [create, ...syncNames, write(0, "first "), write(6, "second"), write(SECTOR, "next")];
  // Of the three writes only the second got there.
  const second = luckWith(3, (index) => index === 1);
  expect(found(calls, second)?.replaceAll("\0", "")).toBe("first second");
});

test("a write is torn between sectors, and where the size got there without the bytes there are zeros", () => {
  const calls = [create, ...syncNames, write(0, "a".repeat(SECTOR) + "b".repeat(SECTOR) + "c")];
  const withoutTheSecond = luckWith(1, (_, sector) => sector !== 1);
  expect(found(calls, withoutTheSecond)).toBe(`${"a".repeat(SECTOR)}${"\0".repeat(SECTOR)}c`);
  const withoutItsSize = luckWith(0, () => true);
  expect(found(calls, withoutItsSize)).toBe("");
});

test("what was written after a truncation that got lost is not in the file", () => {
  const calls = [create, ...syncNames, write(0, "old text"), sync(), synced(), truncate(0), write(0, "new")];
  expect(found(calls, NOTHING)).toBe("old text");
  expect(found(calls, EVERYTHING)).toBe("new");
  expect(
    found(
      calls,
      luckWith(0, () => true),
    ),
  ).toBe("old text");
  // The truncation got there, and the new size, and not the bytes.
  expect(
    found(
      calls,
      luckWith(2, () => false),
    ),
  ).toBe("\0\0\0");
});
