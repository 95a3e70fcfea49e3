import { posix } from "node:path";
import type { Call, Syncer } from "./read-recording.js";

/** A call on the content of a file that no sync has covered yet. */
export type PendingCall = PendingWrite | { at: number; kind: "truncate"; size: number };

interface PendingWrite {
  at: number;
  kind: "write";
  offset: number;
  data: Buffer;
  /** A sync of it failed: readers still get it from the kernel, which takes it for synced. */
  isDropped: boolean;
}

/** What the kernel keeps, writes and drops as one. */
const PAGE_BYTES = 4096;

export interface RecordedFile {
  /** On the disk for certain. Longer than `size` when it shrank. */
  durable: Buffer;
  size: number;
  pending: PendingCall[];
}

/** What a name stands for from a call on: a file, a folder, or nothing any more. */
export type Target = RecordedFile | "folder" | null;

export interface RecordedName {
  durable: Target;
  pending: { at: number; target: Target }[];
}

export interface DiskOptions {
  /** Folders that were there long before. */
  folders: readonly string[];
  /** Whether it is one; a disk that lies says no. @default all are */
  isSync?: ((by: Syncer, name: string) => boolean) | undefined;
}

/**
 * The files of a recording as they are on the disk for certain, and what else may have got there.
 *
 * Of a file, a sync makes durable what was called before the sync started, from the moment in which
 * it ended, through whichever descriptor; size included, since a size that is needed to read the
 * data is part of `fdatasync`. Of names, only a sync of their folder does. What a failed sync
 * should have covered is covered by no later one, until its page is written to again.
 */
export function createRecordedDisk({ folders, isSync = () => true }: DiskOptions) {
  const names = new Map(
    folders.map((name): [string, RecordedName] => [name, { durable: "folder", pending: [] }]),
  );
  const startOfSync = new Map<number, number>();
  let at = -1;

  function point(name: string, target: Target): void {
    const named = names.get(name) ?? { durable: null, pending: [] };
    names.set(name, named);
    named.pending.push({ at, target });
  }

  function fileAt(name: string): RecordedFile {
    const target = currentTarget(names.get(name));
    if (target === null || target === "folder")
      throw new Error(`the record writes to ${name}, which is no file`);
    return target;
  }

  function makeDurable(name: string, before: number): void {
    const target = currentTarget(names.get(name));
    if (target === null) return;
    if (target === "folder") {
      for (const [child, named] of names)
        if (child !== "" && folderOf(child) === name) settleName(named, before);
    } else {
      settleContent(target, before);
    }
  }

  return {
    names,
    apply(call: Call): void {
      at += 1;
      switch (call.kind) {
        case "create":
          return point(call.name, { durable: Buffer.alloc(0), size: 0, pending: [] });
        case "make folder":
          return point(call.name, "folder");
        case "unlink":
          return point(call.name, null);
        case "rename":
          point(call.to, currentTarget(names.get(call.name)));
          return point(call.name, null);
        case "write":
          return void fileAt(call.name).pending.push({ at, ...call, isDropped: false });
        case "truncate":
          return void fileAt(call.name).pending.push({ at, ...call });
        case "sync":
          return void startOfSync.set(call.number, at);
        case "synced":
          if (isSync(call.by, call.name)) makeDurable(call.name, startOfSync.get(call.number) ?? 0);
          return;
        case "sync failed": {
          // A receiver that does not wait for its syncs may delete the file meanwhile.
          const target = currentTarget(names.get(call.name));
          if (target === null || target === "folder") return;
          return dropContent(target, startOfSync.get(call.number) ?? 0);
        }
      }
    },
  };
}

export type RecordedDisk = ReturnType<typeof createRecordedDisk>;

export function folderOf(name: string): string {
  const folder = posix.dirname(name);
  return folder === "." ? "" : folder;
}

export function currentTarget(named: RecordedName | undefined): Target {
  return named === undefined ? null : (named.pending.at(-1) ?? { target: named.durable }).target;
}

function settleName(named: RecordedName, before: number): void {
  while (named.pending[0] !== undefined && named.pending[0].at < before) {
    named.durable = named.pending.shift()?.target ?? null;
  }
}

function settleContent(file: RecordedFile, before: number): void {
  const covered = file.pending.filter(({ at }) => at < before);
  const dirtyPages = new Set(covered.filter(isWritten).flatMap(pagesOf));
  let left: PendingCall[] = [];
  for (const call of covered) {
    if (call.kind === "truncate") {
      file.durable.fill(0, call.size);
      file.size = call.size;
      left = left.filter((dropped) => dropped.kind === "write" && dropped.offset < call.size);
    } else if (call.isDropped && !pagesOf(call).some((page) => dirtyPages.has(page))) {
      left.push(call);
    } else {
      const end = call.offset + call.data.length;
      if (end > file.durable.length)
        file.durable = Buffer.concat([file.durable, Buffer.alloc(end * 2)]);
      call.data.copy(file.durable, call.offset);
      file.size = Math.max(file.size, end);
    }
  }
  file.pending = [...left, ...file.pending.slice(covered.length)];
}

function isWritten(call: PendingCall): call is PendingWrite {
  return call.kind === "write" && !call.isDropped;
}

/** Page by page, since each may be written to again or not. */
function dropContent(file: RecordedFile, before: number): void {
  file.pending = file.pending.flatMap((call) => {
    if (call.kind === "truncate" || call.at >= before) return [call];
    return pagesOf(call).map((page): PendingCall => {
      const from = Math.max(call.offset, page * PAGE_BYTES);
      const to = Math.min(call.offset + call.data.length, (page + 1) * PAGE_BYTES);
      const data = call.data.subarray(from - call.offset, to - call.offset);
      return { ...call, offset: from, data, isDropped: true };
    });
  });
}

function pagesOf({ offset, data }: PendingWrite): number[] {
  const first = Math.floor(offset / PAGE_BYTES);
  const end = Math.ceil((offset + data.length) / PAGE_BYTES);
  return Array.from({ length: end - first }, (_, index) => first + index);
}
