import type { Clock } from "../../time/clock.js";

/** Work that an interruption should not cut short. */
export interface UnfinishedWork {
  /** How long it may take after Ctrl-C. */
  atMostMs: number;
  /** Printed if it takes longer, or if the user presses Ctrl-C again. */
  ifCutShort: string;
}

/** SIGINT (Ctrl-C) or SIGTERM: the first asks the command to end, the second ends the process. */
export interface Interruption {
  /** Aborts at the first. */
  readonly signal: AbortSignal;
  /** The work that is under way; null when it is done. */
  setUnfinished(work: UnfinishedWork | null): void;
  /** @param name of the signal */
  interrupt(name: NodeJS.Signals): void;
}

/** Whether it was SIGTERM: a supervisor stops a server with it, which is no failure. */
export function isTermination({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof DOMException && reason.message === "SIGTERM";
}

interface InterruptionParts {
  clock: Clock;
  note: (line: string) => void;
  /** Ends the process. */
  exit: () => void;
}

/** How long a command may take to close and clean up once it was interrupted. */
const CLEAN_UP_MS = 5000;

/** npm and npx pass a Ctrl-C on to the command, which had it from the terminal already. That is not a second one. */
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
    interrupt(name) {
      if (controller.signal.aborted) {
        if (clock.elapsed() - firstAt > SAME_MS) cutShort();
        return;
      }
      firstAt = clock.elapsed();
      // An AbortError, as without a reason: calls that are aborted reject with it.
      controller.abort(new DOMException(name, "AbortError"));
      clock.setTimeout(cutShort, CLEAN_UP_MS + (unfinished?.atMostMs ?? 0));
    },
  };
}
