import type { InvestigationTask } from "../../api/investigation.js";
import { LIMITS } from "../../api/limits.js";
import type { Clock } from "../../time/clock.js";

/** Since when each task may be polled again; shared by all who wait in one client. */
export interface PollGate {
  /** Somebody waits for this task from now on, until the function that it gives is called. */
  join(taskId: string): () => void;
  /** In elapsed milliseconds of the clock; in the past for a task that nothing is known of. */
  opensAt(taskId: string): number;
  /**
   * True when it may be polled now; nobody else may then, until as long after it as the last answer said. Looking and
   * closing are one step, since several may come at the same moment.
   */
  enter(taskId: string): boolean;
  /** What an answer says. */
  note(task: InvestigationTask): void;
  /** Not before so many milliseconds from now. */
  postpone(taskId: string, waitMs: number): void;
}

interface Poll {
  intervalMs: number;
  opensAt: number;
}

const DEFAULT_INTERVAL_MS = LIMITS.pollAfterSeconds * 1000;

/** With so many tasks it is first looked for those that can be forgotten. */
const TIDY_AT = 1000;

export function createPollGate(clock: Clock): PollGate {
  const polls = new Map<string, Poll>();
  /** How many wait for a task. */
  const waiting = new Map<string, number>();
  let tidyAt = TIDY_AT;

  /** Nobody waits for it and it may be polled: to know nothing of it is as good. Before, that would be a poll too soon. */
  function forgetIfOver(taskId: string): void {
    if (!waiting.has(taskId) && pollOf(taskId).opensAt <= clock.elapsed()) polls.delete(taskId);
  }

  function set(taskId: string, poll: Poll): void {
    polls.set(taskId, poll);
    if (polls.size <= tidyAt) return;
    for (const known of polls.keys()) forgetIfOver(known);
    // Twice what is left, so that those who stay are not looked at for each that comes.
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
      // Nothing or less would be a loop without a pause.
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
