import type { InvestigationTask } from "../../api/investigation.js";
import { LIMITS } from "../../api/limits.js";
import type { Clock } from "../../time/clock.js";

/** Decides when each task can be polled again. All waits of a client share one gate. */
export type PollGate = ReturnType<typeof createPollGate>;

interface Poll {
  intervalMs: number;
  opensAt: number;
}

const DEFAULT_INTERVAL_MS = LIMITS.pollAfterSeconds * 1000;

export function createPollGate(clock: Clock) {
  const polls = new Map<string, Poll>();

  const pollOf = (taskId: string): Poll => polls.get(taskId) ?? { intervalMs: DEFAULT_INTERVAL_MS, opensAt: -Infinity };

  function set(taskId: string, poll: Poll): void {
    // Drops tasks that no caller waits for: a waiting caller would have polled within one interval after the gate opened.
    for (const [id, { opensAt, intervalMs }] of polls) if (opensAt + intervalMs < clock.elapsed()) polls.delete(id);
    polls.set(taskId, poll);
  }

  return {
    /** When the gate opens, in elapsed milliseconds of the clock. For an unknown task this time is in the past. */
    opensAt: (taskId: string) => pollOf(taskId).opensAt,
    /**
     * Returns whether the task can be polled now. If so, the gate closes immediately for the interval of the last answer,
     * because several callers may ask at the same time.
     */
    enter(taskId: string): boolean {
      const { intervalMs, opensAt } = pollOf(taskId);
      if (clock.elapsed() < opensAt) return false;
      set(taskId, { intervalMs, opensAt: clock.elapsed() + intervalMs });
      return true;
    },
    /** Takes the poll interval from an answer. A finished task needs none. */
    note({ task_id, status, poll_after_seconds }: InvestigationTask): void {
      if (status !== "queued" && status !== "running") {
        polls.delete(task_id);
        return;
      }
      // With an interval of 0 the client would poll without a pause.
      const seconds = poll_after_seconds ?? 0;
      const intervalMs = seconds >= 1 ? seconds * 1000 : DEFAULT_INTERVAL_MS;
      set(task_id, { intervalMs, opensAt: clock.elapsed() + intervalMs });
    },
    /** Keeps the gate closed for at least `waitMs` from now. */
    postpone(taskId: string, waitMs: number): void {
      const { intervalMs, opensAt } = pollOf(taskId);
      set(taskId, { intervalMs, opensAt: Math.max(opensAt, clock.elapsed() + waitMs) });
    },
  };
}
