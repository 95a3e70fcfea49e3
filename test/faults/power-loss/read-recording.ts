import { readFileSync } from "node:fs";

/**
 * One line of what `preload/recorder.c` writes. Names are relative to the recorded folder, which
 * itself is "".
 */
export type Call =
  | { kind: "create" | "make folder" | "unlink"; name: string }
  | { kind: "rename"; name: string; to: string }
  | { kind: "write"; name: string; offset: number; data: Buffer }
  | { kind: "truncate"; name: string; size: number }
  /** Its end has the number of its start. */
  | { kind: "sync" | "synced" | "sync failed"; name: string; number: number; by: Syncer };

export type Syncer = "sqlite" | "signalbox";

const HEADER_BYTES = 16;

export function readRecording(log: string): Call[] {
  const bytes = readFileSync(log);
  const calls: Call[] = [];
  let at = 0;
  while (at < bytes.length) {
    const nameFrom = at + HEADER_BYTES;
    const dataFrom = nameFrom + bytes.readUInt16LE(at + 2);
    const end = dataFrom + bytes.readUInt32LE(at + 4);
    if (end > bytes.length) throw new Error("the record ends within a line");
    calls.push(
      callOf(
        String.fromCharCode(bytes.readUInt8(at)),
        bytes.toString("utf8", nameFrom, dataFrom),
        Number(bytes.readBigUInt64LE(at + 8)),
        bytes.subarray(dataFrom, end),
        bytes.readUInt8(at + 1) === 1 ? "sqlite" : "signalbox",
      ),
    );
    at = end;
  }
  return calls;
}

function callOf(kind: string, name: string, number: number, data: Buffer, by: Syncer): Call {
  switch (kind) {
    case "c":
      return { kind: "create", name };
    case "m":
      return { kind: "make folder", name };
    case "u":
      return { kind: "unlink", name };
    case "r":
      return { kind: "rename", name, to: data.toString() };
    case "w":
      return { kind: "write", name, offset: number, data };
    case "t":
      return { kind: "truncate", name, size: number };
    case "s":
      return { kind: "sync", name, number, by };
    case "e":
      return { kind: "synced", name, number, by };
    case "f":
      return { kind: "sync failed", name, number, by };
    default:
      throw new Error(`a line of unknown kind ${kind}`);
  }
}
