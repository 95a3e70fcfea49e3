import type { Clock, ClockTimer } from "../../clock.js";
import type { EmulatorClock } from "./emulator-clock.js";

/** Something that has work at certain times: retries, stages of an investigation, a month that ends. */
export interface DueWork {
  /** When the next piece is due that nobody works on yet, in milliseconds since 1970; null when there is none. */
  nextDueAt(): number | null;
  /** Begins all that is due by `nowMs`; resolves when what it began is done. Never rejects. */
  runDue(nowMs: number): Promise<void>;
}

/** Runs work when it is due, as the clock goes on or is moved. */
export interface Scheduler {
  add(work: DueWork): void;
  /** To be called when work was added or moved. */
  wake(): void;
  /**
   * Moves the clock to `atMs`, stopping at each moment on the way at which something is due, until that is done. So what
   * a moved clock shows is what time itself would have.
   */
  advanceTo(atMs: number): Promise<void>;
  /** While {@link Scheduler.advanceTo} is on its way: real time hardly passes then. */
  readonly isAdvancing: boolean;
  /** Resolves when nothing runs and nothing is due. */
  idle(): Promise<void>;
  /** No more work begins; resolves when what runs is done. */
  close(): Promise<void>;
}

/** A real timer may be early by a moment, and a clock can be moved while it waits: it looks again at least this often. */
const LONGEST_WAIT_MS = 60_000;

export function createScheduler(clock: EmulatorClock, base: Pick<Clock, "setTimeout">): Scheduler {
  const works: DueWork[] = [];
  const running = new Set<Promise<void>>();
  let timer: ClockTimer | null = null;
  let isClosed = false;
  let walks = 0;
  let advancing: Promise<void> = Promise.resolve();

  const nextDueAt = (): number | null => {
    const dues = works.map((work) => work.nextDueAt()).filter((due) => due !== null);
    return dues.length === 0 ? null : Math.min(...dues);
  };

  function beginDue(): void {
    const now = clock.now();
    for (const work of works) {
      const due = work.nextDueAt();
      if (due === null || due > now) continue;
      const run = work.runDue(now).finally(() => {
        running.delete(run);
        arm();
      });
      running.add(run);
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
      const due = nextDueAt();
      if (due === null || due > atMs || isClosed) break;
      clock.moveTo(due);
      await idle();
    }
    clock.moveTo(atMs);
    arm();
  }

  return {
    add(work) {
      works.push(work);
      arm();
    },
    wake: arm,
    advanceTo(atMs) {
      // One walk after the other: two at once would take each other's stops.
      walks++;
      advancing = advancing.then(() => walkTo(atMs)).finally(() => void walks--);
      return advancing;
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
