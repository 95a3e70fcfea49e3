import type { InvestigationTask } from "../../api/investigation.js";
import { LIMITS } from "../../api/limits.js";
import type { Clock } from "../../time/clock.js";

/** When each task may be polled again. All waits of one client share it. */
export interface PollGate {
  /** A caller waits for this task from now on, until it calls the returned function. */
  join(taskId: string): () => void;
  /** In elapsed milliseconds of the clock; in the past for an unknown task. */
  opensAt(taskId: string): number;
  /**
   * True when the task may be polled now. The gate then closes for the interval of the last answer. The check and the
   * closing are one step, since several callers may come at the same moment.
   */
  enter(taskId: string): boolean;
  /** Takes the poll interval from an answer. */
  note(task: InvestigationTask): void;
  /** Keeps the gate closed for so many milliseconds from now. */
  postpone(taskId: string, waitMs: number): void;
}

interface Poll {
  intervalMs: number;
  opensAt: number;
}

const DEFAULT_INTERVAL_MS = LIMITS.pollAfterSeconds * 1000;

/** With more tasks than this, the gate looks for tasks that it can forget. */
const TIDY_AT = 1000;

export function createPollGate(clock: Clock): PollGate {
  const polls = new Map<string, Poll>();
  /** How many callers wait for a task. */
  const waiting = new Map<string, number>();
  let tidyAt = TIDY_AT;

  /** Forgets a task that has no waiting caller and may be polled now. Forgotten earlier, it could be polled too soon. */
  function forgetIfOver(taskId: string): void {
    if (!waiting.has(taskId) && pollOf(taskId).opensAt <= clock.elapsed()) polls.delete(taskId);
  }

  function set(taskId: string, poll: Poll): void {
    polls.set(taskId, poll);
    if (polls.size <= tidyAt) return;
    for (const known of polls.keys()) forgetIfOver(known);
    // Twice the remaining tasks, so that they are not all checked again for each new task.
    tidyAt = Math.max(TIDY_AT, polls.size * 2);
  }

  function leave(taskId: string): void {
    const others = (waiting.get(taskId) ?? 1) - 1;
    if (others > 0) waiting.set(taskId, others);
    else waiting.delete(taskId);
    forgetIfOver(taskId);
  }

  const pollOf = (taskId: string): Poll => polls.get(taskId) ?? { intervalMs: DEFAULT_INTERVAL_MS, opensAt: -Infinity };

  return {
    join(taskId) {
      waiting.set(taskId, (waiting.get(taskId) ?? 0) + 1);
      let isIn = true;
      return () => {
        if (isIn) leave(taskId);
        isIn = false;
      };
    },
    opensAt: (taskId) => pollOf(taskId).opensAt,
    enter(taskId) {
      const { intervalMs, opensAt } = pollOf(taskId);
      if (clock.elapsed() < opensAt) return false;
      set(taskId, { intervalMs, opensAt: clock.elapsed() + intervalMs });
      return true;
    },
    note({ task_id, status, poll_after_seconds }) {
      if (status !== "queued" && status !== "running") {
        polls.delete(task_id);
        return;
      }
      // An interval of zero would be a loop without a pause.
      const seconds = poll_after_seconds ?? 0;
      const intervalMs = seconds >= 1 ? seconds * 1000 : DEFAULT_INTERVAL_MS;
      set(task_id, { intervalMs, opensAt: clock.elapsed() + intervalMs });
    },
    postpone(taskId, waitMs) {
      const { intervalMs, opensAt } = pollOf(taskId);
      set(taskId, { intervalMs, opensAt: Math.max(opensAt, clock.elapsed() + waitMs) });
    },
  };
}
