import { dirname, join } from "node:path";
import { isSound, judgeState, writeState, type Damage } from "./judge-state.js";
import { addMarks, createLedger, type Ledger } from "./ledger.js";
import type { Call, Syncer } from "./read-recording.js";
import { createRecordedDisk } from "./recorded-disk.js";
import { INBOX, MARKS } from "./recorder.js";
import { survivorsOf, type Luck } from "./survivors.js";

export interface PowerCut {
  /** The last call before it. */
  at: number;
  luck: Luck;
}

export interface Found {
  cut: string;
  damage: Damage;
}

export interface Findings {
  states: number;
  /** The states that were not as promised. */
  damaged: Found[];
}

export interface CutOptions {
  scratch: string;
  /** Which syncs the disk really makes. @default all */
  isSync?: (by: Syncer, name: string) => boolean;
  /** Whether the inbox's folder was there before the receiver. @default true */
  isFolderThere?: boolean;
  /** What else to do with a state that is sound. */
  alsoOpen?: (folder: string, ledger: Ledger, state: number) => Promise<void>;
}

/** Cuts the power at each of these moments, and looks at what is found when it is back. */
export async function cutPower(
  calls: readonly Call[],
  cuts: readonly PowerCut[],
  options: CutOptions,
): Promise<Findings> {
  const { scratch, isSync, isFolderThere = true, alsoOpen } = options;
  const folder = join(scratch, "state");
  const disk = createRecordedDisk({ folders: isFolderThere ? ["", dirname(INBOX)] : [""], isSync });
  const ledger = createLedger();
  const damaged: Found[] = [];
  let applied = 0;
  let states = 0;
  for (const { at, luck } of [...cuts].sort((a, b) => a.at - b.at)) {
    for (; applied <= at; applied++) {
      const call = calls[applied];
      if (call === undefined) throw new Error(`there is no call ${applied}`);
      disk.apply(call);
      if (call.kind === "write" && call.name === MARKS) addMarks(ledger, call.data.toString());
    }
    writeState(folder, survivorsOf(disk, luck));
    const damage = judgeState(folder, ledger);
    if (!isSound(damage)) damaged.push({ cut: `after call ${at}, with ${luck.name}`, damage });
    else await alsoOpen?.(folder, ledger, states);
    states += 1;
  }
  return { states, damaged };
}

/** Every one of these moments with every one of these sorts of luck. */
export function cutsAt(points: readonly number[], lucks: readonly Luck[]): PowerCut[] {
  return points.flatMap((at) => lucks.map((luck) => ({ at, luck })));
}
