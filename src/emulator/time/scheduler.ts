import type { Clock, ClockTimer } from "../../time/clock.js";
import type { EmulatorClock } from "./emulator-clock.js";

/**
 * A part that has work at certain times: retries, stages of an investigation, the end of a month. When it throws or rejects,
 * for example because the disk is full, it is called again after a minute.
 */
export interface DueWork {
  /** When the next work is due that was not started yet, in milliseconds since 1970; null when there is none. */
  nextDueAt(): number | null;
  /** Starts all work that is due by `nowMs`, and resolves when it is done. */
  runDue(nowMs: number): Promise<void>;
}

/** Runs work when it is due, while the clock runs and when it is moved. */
export interface Scheduler {
  add(work: DueWork): void;
  /** To be called when a part has work that is due earlier than before. */
  wake(): void;
  /**
   * Moves the clock to a moment. It stops at each moment on the way at which work is due, until that work is done, so a moved
   * clock shows the same results as passing time. When the scheduler is closed on the way, the clock stays where it is.
   *
   * @param at a moment, or a function that makes one of the time at which this move starts, after the moves before it. Rejects
   * with the error of that function.
   */
  advanceTo(at: number | ((nowMs: number) => number)): Promise<void>;
  /** Whether {@link Scheduler.advanceTo} moves the clock: real time hardly passes then. */
  readonly isAdvancing: boolean;
  /** Resolves when nothing runs and nothing is due. */
  idle(): Promise<void>;
  /** Starts no more work; resolves when the work that runs is done. */
  close(): Promise<void>;
}

/** The longest wait of a timer: a real timer may fire early, and the clock can be moved while it waits. */
const LONGEST_WAIT_MS = 60_000;

/** The wait after work has failed, by the service's clock. */
const REST_MS = 60_000;

/** @param onFailure called with the error of work that failed. @default does nothing */
export function createScheduler(
  clock: EmulatorClock,
  base: Pick<Clock, "setTimeout">,
  onFailure: (error: unknown) => void = () => undefined,
): Scheduler {
  const works: { work: DueWork; restsUntil: number }[] = [];
  const running = new Set<Promise<void>>();
  let timer: ClockTimer | null = null;
  let isClosed = false;
  let walks = 0;
  let advancing: Promise<unknown> = Promise.resolve();

  function rest(entry: (typeof works)[number], error: unknown): void {
    entry.restsUntil = clock.now() + REST_MS;
    if (!isClosed) onFailure(error);
  }

  function dueOf(entry: (typeof works)[number]): number | null {
    try {
      const due = entry.work.nextDueAt();
      return due === null ? null : Math.max(due, entry.restsUntil);
    } catch (error) {
      rest(entry, error);
      return entry.restsUntil;
    }
  }

  async function run(entry: (typeof works)[number], nowMs: number): Promise<void> {
    try {
      await entry.work.runDue(nowMs);
    } catch (error) {
      rest(entry, error);
    }
  }

  const nextDueAt = (): number | null => {
    const dues = works.map(dueOf).filter((due) => due !== null);
    return dues.length === 0 ? null : Math.min(...dues);
  };

  function beginDue(): void {
    const now = clock.now();
    for (const entry of works) {
      const due = dueOf(entry);
      if (due === null || due > now) continue;
      const begun = run(entry, now).finally(() => {
        running.delete(begun);
        arm();
      });
      running.add(begun);
    }
  }

  function arm(): void {
    timer?.cancel();
    timer = null;
    if (isClosed) return;
    const due = nextDueAt();
    if (due === null) return;
    timer = base.setTimeout(
      () => {
        timer = null;
        beginDue();
        arm();
      },
      Math.min(LONGEST_WAIT_MS, Math.max(0, due - clock.now())),
    );
  }

  async function idle(): Promise<void> {
    for (;;) {
      if (!isClosed) beginDue();
      if (running.size === 0) return;
      await Promise.all(running);
    }
  }

  async function walkTo(atMs: number): Promise<void> {
    await idle();
    for (;;) {
      // The clock must not pass work that is due: after a restart that work would be late, or too late.
      if (isClosed) return;
      const due = nextDueAt();
      if (due === null || due > atMs) break;
      clock.moveTo(due);
      await idle();
    }
    clock.moveTo(atMs);
    arm();
  }

  return {
    add(work) {
      works.push({ work, restsUntil: -Infinity });
      arm();
    },
    wake: arm,
    advanceTo(at) {
      // One walk after the other: two at once would skip stops of each other.
      walks++;
      const walk = advancing
        .then(() => walkTo(typeof at === "number" ? at : at(clock.now())))
        .finally(() => void walks--);
      advancing = walk.catch(() => undefined);
      return walk;
    },
    get isAdvancing() {
      return walks > 0;
    },
    idle,
    async close() {
      isClosed = true;
      timer?.cancel();
      timer = null;
      await Promise.all(running);
    },
  };
}
