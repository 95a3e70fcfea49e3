import type { Clock, ClockTimer } from "../../time/clock.js";
import type { EmulatorClock } from "./emulator-clock.js";

/**
 * Something that has work at certain times: retries, stages of an investigation, a month that ends. One that throws or
 * rejects, because the disk is full say, is left alone for a minute and then asked again.
 */
export interface DueWork {
  /** When the next piece is due that nobody works on yet, in milliseconds since 1970; null when there is none. */
  nextDueAt(): number | null;
  /** Begins all that is due by `nowMs`; resolves when what it began is done. */
  runDue(nowMs: number): Promise<void>;
}

/** Runs work when it is due, as the clock goes on or is moved. */
export interface Scheduler {
  add(work: DueWork): void;
  /** To be called when work was added or moved. */
  wake(): void;
  /**
   * Moves the clock to `atMs`, stopping at each moment on the way at which something is due, until that is done. So what
   * a moved clock shows is what time itself would have. Closed on the way, it leaves the clock where it got to.
   *
   * @param at a moment, or what makes one of the time at which this walk begins: it waits for those before it. What that
   * throws is what it rejects with.
   */
  advanceTo(at: number | ((nowMs: number) => number)): Promise<void>;
  /** While {@link Scheduler.advanceTo} is on its way: real time hardly passes then. */
  readonly isAdvancing: boolean;
  /** Resolves when nothing runs and nothing is due. */
  idle(): Promise<void>;
  /** No more work begins; resolves when what runs is done. */
  close(): Promise<void>;
}

/** A real timer may be early by a moment, and a clock can be moved while it waits: it looks again at least this often. */
const LONGEST_WAIT_MS = 60_000;

/** How long work that failed is left alone, by the service's clock. */
const REST_MS = 60_000;

/** @param onFailure told of what a piece of work throws. @default nobody is */
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
      // What is due on the rest of the way would be late, or too late, when somebody goes on from here.
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
      // One walk after the other: two at once would take each other's stops.
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
