import type { Clock } from "../../base/time/clock.js";

export interface UnfinishedWork {
  /** The maximum time that the work can take after Ctrl-C. */
  atMostMs: number;
  /** Printed if the work takes longer, or if the user presses Ctrl-C again. */
  ifInterrupted: string;
}

interface InterruptionParts {
  clock: Clock;
  note: (line: string) => void;
  exit: () => void;
}

const CLEAN_UP_MS = 5000;

/**
 * npm and npx repeat a Ctrl-C that the terminal has already sent to the command. A second signal
 * within this time is ignored.
 */
const SAME_MS = 300;

/**
 * The first SIGINT (Ctrl-C) or SIGTERM asks the command to end. A second one, more than 300 ms
 * later, ends the process.
 */
export function createInterruption({ clock, note, exit }: InterruptionParts) {
  const controller = new AbortController();
  const signal: AbortSignal = controller.signal;
  let firstAt = 0;
  let unfinished: UnfinishedWork | null = null;

  function exitNow(): void {
    if (unfinished !== null) note(unfinished.ifInterrupted);
    exit();
  }

  return {
    signal,
    setUnfinished(work: UnfinishedWork | null): void {
      unfinished = work;
    },
    interrupt(name: NodeJS.Signals): void {
      if (controller.signal.aborted) {
        if (clock.elapsed() - firstAt > SAME_MS) exitNow();
        return;
      }
      firstAt = clock.elapsed();
      // Calls that are aborted reject with this reason, so it is an AbortError like the default
      // reason.
      controller.abort(new DOMException(name, "AbortError"));
      clock.setTimeout(exitNow, CLEAN_UP_MS + (unfinished?.atMostMs ?? 0));
    },
  };
}
