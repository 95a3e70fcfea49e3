import type { Clock, ClockTimer } from "../../../base/time/clock.js";
import type { EmulatorClock } from "./emulator-clock.js";

/**
 * A kind of work with due times: deliveries, stages of an investigation, the end of a month. When
 * it throws or rejects, for example because the disk is full, it is called again after a minute.
 */
export interface DueWork {
  /**
   * Returns when the next work that has not started is due, in milliseconds since 1970; null when
   * there is none.
   */
  nextDueAt(): number | null;
  /** Starts all work that is due by `nowMs`. Resolves when it is done. */
  runDue(nowMs: number): Promise<void>;
}

/**
 * The longest wait of a timer. After it, the clock is read again, because it can be set while the
 * timer waits.
 */
const LONGEST_WAIT_MS = 60_000;

/** How long work rests after it failed, by the emulator's clock. */
const REST_MS = 60_000;

export type Scheduler = ReturnType<typeof createScheduler>;

/**
 * Runs work when it is due, while the clock runs and while it is advanced.
 *
 * @param onFailure called with the error of failed work. @default does nothing
 */
export function createScheduler(
  clock: EmulatorClock,
  base: Pick<Clock, "setTimeout">,
  onFailure: (error: unknown) => void = () => undefined,
) {
  const works: { work: DueWork; restsUntil: number }[] = [];
  const running = new Set<Promise<void>>();
  let timer: ClockTimer | null = null;
  let isClosed = false;
  let advances = 0;
  let lastAdvance: Promise<unknown> = Promise.resolve();

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

  async function moveTo(atMs: number): Promise<void> {
    await idle();
    for (;;) {
      // The clock must not pass the due time of work that has not run: after a restart the work
      // would be late or expired.
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
    add(work: DueWork): void {
      works.push({ work, restsUntil: -Infinity });
      arm();
    },
    /** Sets the timer again. Call this when work has become due earlier than before. */
    wake: arm,
    /**
     * Advances the clock. It stops at each time at which work is due until that work is done, so
     * the results are the same as if the time had passed. When the scheduler is closed meanwhile,
     * the clock stays at the time that it has reached. Advances run one after the other: if two ran
     * at the same time, one could skip a time at which the other must stop.
     *
     * @param at the new time, or a function that computes it from the time at which this advance
     * starts. If the function throws, the advance rejects with that error.
     */
    advanceTo(at: number | ((nowMs: number) => number)): Promise<void> {
      advances++;
      const advance = lastAdvance
        .then(() => moveTo(typeof at === "number" ? at : at(clock.now())))
        .finally(() => void advances--);
      lastAdvance = advance.catch(() => undefined);
      return advance;
    },
    /** Whether an advance runs or waits. */
    get isAdvancing() {
      return advances > 0;
    },
    /** Resolves when no work runs and no work is due. */
    idle,
    /** Starts no more work. Resolves when the running work is done. */
    async close(): Promise<void> {
      isClosed = true;
      timer?.cancel();
      timer = null;
      await Promise.all(running);
    },
  };
}
