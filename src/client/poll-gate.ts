import type { InvestigationTask } from "../api/investigation.js";
import { LIMITS } from "../api/limits.js";
import type { Clock } from "../clock.js";

/** Since when each task may be polled again; shared by all who wait in one client. */
export interface PollGate {
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

/** Tasks that nobody waits for any more are forgotten, the oldest first. */
const MAX_TASKS = 1000;

export function createPollGate(clock: Clock): PollGate {
  const polls = new Map<string, Poll>();

  function set(taskId: string, poll: Poll): void {
    // The latest stands last.
    polls.delete(taskId);
    polls.set(taskId, poll);
    const [oldest] = polls.keys();
    if (polls.size > MAX_TASKS && oldest !== undefined) polls.delete(oldest);
  }

  const pollOf = (taskId: string): Poll => polls.get(taskId) ?? { intervalMs: DEFAULT_INTERVAL_MS, opensAt: -Infinity };

  return {
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
