import type { Clock } from "../../time/clock.js";

/** Something that is better brought to its end than cut short. */
export interface UnfinishedWork {
  /** How long it may take, from Ctrl-C on. */
  atMostMs: number;
  /** What a person has to know who does not wait for it. */
  ifCutShort: string;
}

/** Ctrl-C: the first asks the command to end, the second ends it. */
export interface Interruption {
  /** Aborts at the first. */
  readonly signal: AbortSignal;
  /** What is under way; null when it is done. */
  setUnfinished(work: UnfinishedWork | null): void;
  interrupt(): void;
}

interface InterruptionParts {
  clock: Clock;
  note: (line: string) => void;
  /** Ends the process. */
  exit: () => void;
}

/** How long a command may take to close and clean up once it was interrupted. */
const CLEAN_UP_MS = 5000;

/** npm and npx hand a Ctrl-C on to the command, which had it from the terminal already: that is no second one. */
const SAME_MS = 300;

export function createInterruption({ clock, note, exit }: InterruptionParts): Interruption {
  const controller = new AbortController();
  let firstAt = 0;
  let unfinished: UnfinishedWork | null = null;

  function cutShort(): void {
    if (unfinished !== null) note(unfinished.ifCutShort);
    exit();
  }

  return {
    signal: controller.signal,
    setUnfinished(work) {
      unfinished = work;
    },
    interrupt() {
      if (controller.signal.aborted) {
        if (clock.elapsed() - firstAt > SAME_MS) cutShort();
        return;
      }
      firstAt = clock.elapsed();
      controller.abort();
      clock.setTimeout(cutShort, CLEAN_UP_MS + (unfinished?.atMostMs ?? 0));
    },
  };
}
