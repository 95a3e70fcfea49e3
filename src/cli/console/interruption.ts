import { once } from "node:events";
import type { Clock } from "../../base/time/clock.js";
import type { Cli, Outcome, UnfinishedWork } from "./cli.js";
import { EXIT } from "./exit.js";

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

/** Resolves when a server has to end: after a signal, or when nothing reads its output any more. */
export async function untilStopped({ signal, terminal }: Cli, outcome: Outcome): Promise<void> {
  if (!signal.aborted) await Promise.race([once(signal, "abort"), terminal.closed]);
  const reason: unknown = signal.reason;
  // A supervisor stops a server with SIGTERM, so the exit code is 0. After Ctrl-C it is 130, as in
  // every command.
  if (reason instanceof DOMException && reason.message === "SIGTERM")
    outcome.whenInterrupted = EXIT.ok;
}
