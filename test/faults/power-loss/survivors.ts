import {
  currentTarget,
  folderOf,
  type PendingCall,
  type RecordedDisk,
  type RecordedFile,
} from "./recorded-disk.js";

/** The disk writes a sector whole or not at all; everything larger may be torn. */
const SECTOR_BYTES = 512;

/** What of the calls that no sync covered is on the disk after the power cut. */
export interface Luck {
  readonly name: string;
  /** How many of the pending changes of a name, or of a file's size, in their order. */
  count(of: number): number;
  /** For each pending write of a file, in their order: which of its sectors got there. */
  writes(pending: readonly PendingCall[]): (index: number, sector: number) => boolean;
}

export type Random = () => number;

export const NOTHING: Luck = {
  name: "nothing unsynced",
  count: () => 0,
  writes: () => () => false,
};
export const EVERYTHING: Luck = { name: "everything", count: (of) => of, writes: () => () => true };

/** Each file got as far as a call of its own. */
export function aPrefix(random: Random): Luck {
  return {
    name: "a prefix",
    count: (of) => Math.floor(random() * (of + 1)),
    writes(pending) {
      const end = Math.floor(random() * (pending.length + 1));
      return (index) => index < end;
    },
  };
}

/** The disk wrote in an order of its own, but each call whole. */
export function someWrites(random: Random): Luck {
  return {
    name: "some writes",
    count: (of) => Math.floor(random() * (of + 1)),
    writes(pending) {
      const share = random();
      const kept = pending.map(() => random() < share);
      return (index) => kept[index] === true;
    },
  };
}

/** Most got there, and the size did: a hole somewhere in the middle. */
export function allButAFewSectors(random: Random): Luck {
  return { name: "all but a few sectors", count: (of) => of, writes: () => () => random() < 0.97 };
}

/** Writes were torn: of each only some sectors got there. */
export function someSectors(random: Random): Luck {
  return {
    name: "some sectors",
    count: (of) => Math.floor(random() * (of + 1)),
    writes() {
      const share = random();
      return () => random() < share;
    },
  };
}

/** The files that are found after the power is back, with their bytes. */
export function survivorsOf(disk: RecordedDisk, luck: Luck): Map<string, Buffer> {
  const targets = new Map(
    [...disk.names].map(([name, { durable, pending }]) => {
      const count = luck.count(pending.length);
      return [name, count === 0 ? durable : (pending[count - 1]?.target ?? null)];
    }),
  );
  const hasFolder = (name: string): boolean =>
    targets.get(folderOf(name)) === "folder" &&
    (folderOf(name) === "" || hasFolder(folderOf(name)));
  const files = new Map<string, Buffer>();
  for (const [name, target] of targets) {
    if (target !== null && target !== undefined && target !== "folder" && hasFolder(name)) {
      files.set(name, contentAfter(target, luck));
    }
  }
  return files;
}

/** The files as the process saw them last. */
export function filesNow(disk: RecordedDisk): Map<string, Buffer> {
  const files = [...disk.names].flatMap(([name, named]): [string, Buffer][] => {
    const target = currentTarget(named);
    return target === null || target === "folder" ? [] : [[name, contentAfter(target, EVERYTHING)]];
  });
  return new Map(files);
}

/**
 * Each sector has what one of the calls on it left there, with all earlier calls on that sector:
 * the page cache holds one version, and the disk takes it as it is at some moment. The size and the
 * truncations are one such version of their own. Where the size grew and no data came there are
 * zeros.
 */
function contentAfter({ durable, size, pending }: RecordedFile, luck: Luck): Buffer {
  const sizes = luck.count(pending.length);
  const isKept = luck.writes(pending);
  /**
   * From here on a truncation freed the blocks, and did not get there: what was written later is in
   * no block of the file.
   */
  let freedFrom = Infinity;
  let sizeAfter = size;
  const lastOf = new Map<number, number>();
  for (const [index, call] of pending.entries()) {
    if (call.kind === "truncate") {
      if (index < sizes) {
        sizeAfter = call.size;
        lastOf.set(sectorOf(call.size), index);
      } else {
        freedFrom = Math.min(freedFrom, sectorOf(call.size));
      }
      continue;
    }
    const end = call.offset + call.data.length;
    if (index < sizes) sizeAfter = Math.max(sizeAfter, end);
    for (let sector = sectorOf(call.offset); sector * SECTOR_BYTES < end; sector++) {
      if (sector < freedFrom && isKept(index, sector)) lastOf.set(sector, index);
    }
  }

  const content = Buffer.alloc(sizeAfter);
  durable.copy(content, 0, 0, Math.min(size, sizeAfter));
  for (const [index, call] of pending.entries()) {
    if (call.kind === "write")
      copySectors(call, content, (sector) => index <= (lastOf.get(sector) ?? -1));
    else if (index < sizes) content.fill(0, Math.min(call.size, sizeAfter));
  }
  return content;
}

function sectorOf(offset: number): number {
  return Math.floor(offset / SECTOR_BYTES);
}

function copySectors(
  { offset, data }: { offset: number; data: Buffer },
  content: Buffer,
  isWanted: (sector: number) => boolean,
): void {
  const end = Math.min(offset + data.length, content.length);
  for (let from = offset; from < end;) {
    const sector = sectorOf(from);
    const to = Math.min(end, (sector + 1) * SECTOR_BYTES);
    if (isWanted(sector)) data.copy(content, from, from - offset, to - offset);
    from = to;
  }
}
