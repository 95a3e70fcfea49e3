import type { InvestigationTask } from "../../api/investigation.js";
import { LIMITS } from "../../api/limits.js";
import type { Clock } from "../../time/clock.js";

/** When each task may be polled again. All waits of one client share it. */
export type PollGate = ReturnType<typeof createPollGate>;

interface Poll {
  intervalMs: number;
  opensAt: number;
}

const DEFAULT_INTERVAL_MS = LIMITS.pollAfterSeconds * 1000;

/** With more tasks than this, the gate looks for tasks that it can forget. */
const TIDY_AT = 1000;

export function createPollGate(clock: Clock) {
  const polls = new Map<string, Poll>();
  let tidyAt = TIDY_AT;

  const pollOf = (taskId: string): Poll => polls.get(taskId) ?? { intervalMs: DEFAULT_INTERVAL_MS, opensAt: -Infinity };

  function set(taskId: string, poll: Poll): void {
    polls.set(taskId, poll);
    if (polls.size <= tidyAt) return;
    // A waiting caller polls as soon as the gate opens. A gate that stays open for another interval has no waiting caller.
    for (const [id, { opensAt, intervalMs }] of polls) if (opensAt + intervalMs < clock.elapsed()) polls.delete(id);
    // Twice the remaining tasks, so that they are not all checked again for each new task.
    tidyAt = Math.max(TIDY_AT, polls.size * 2);
  }

  return {
    /** In elapsed milliseconds of the clock; in the past for an unknown task. */
    opensAt: (taskId: string) => pollOf(taskId).opensAt,
    /**
     * True when the task may be polled now. The gate then closes for the interval of the last answer. The check and the
     * closing are one step, since several callers may come at the same moment.
     */
    enter(taskId: string): boolean {
      const { intervalMs, opensAt } = pollOf(taskId);
      if (clock.elapsed() < opensAt) return false;
      set(taskId, { intervalMs, opensAt: clock.elapsed() + intervalMs });
      return true;
    },
    /** Takes the poll interval from an answer. */
    note({ task_id, status, poll_after_seconds }: InvestigationTask): void {
      if (status !== "queued" && status !== "running") {
        polls.delete(task_id);
        return;
      }
      // An interval of zero would be a loop without a pause.
      const seconds = poll_after_seconds ?? 0;
      const intervalMs = seconds >= 1 ? seconds * 1000 : DEFAULT_INTERVAL_MS;
      set(task_id, { intervalMs, opensAt: clock.elapsed() + intervalMs });
    },
    /** Keeps the gate closed for so many milliseconds from now. */
    postpone(taskId: string, waitMs: number): void {
      const { intervalMs, opensAt } = pollOf(taskId);
      set(taskId, { intervalMs, opensAt: Math.max(opensAt, clock.elapsed() + waitMs) });
    },
  };
}
