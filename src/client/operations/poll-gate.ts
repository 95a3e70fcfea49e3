import type { InvestigationTask } from "../../api/investigation.js";
import { LIMITS } from "../../api/limits.js";
import type { Clock } from "../../time/clock.js";
import type { ClientError } from "../client-error.js";

/** Decides when each task can be polled again. A client has one gate, so all its waits for a task share the interval. */
export type PollGate = ReturnType<typeof createPollGate>;

interface Poll {
  intervalMs: number;
  opensAt: number;
  /** The error of an answer that asks for a longer wait than `maxWaitMs`. Callers get this error and do not wait. */
  refusal: ClientError | null;
  /** The last answer about the task. */
  task: InvestigationTask | null;
}

const DEFAULT_INTERVAL_MS = LIMITS.pollAfterSeconds * 1000;

/** @param maxWaitMs the longest wait that the service can ask for by `Retry-After` */
export function createPollGate(clock: Clock, maxWaitMs: number) {
  const polls = new Map<string, Poll>();

  const pollOf = (taskId: string): Poll =>
    polls.get(taskId) ?? { intervalMs: DEFAULT_INTERVAL_MS, opensAt: -Infinity, refusal: null, task: null };

  function set(taskId: string, poll: Poll): void {
    // An open gate with the default interval is the same as no entry, so it is deleted. Another interval is kept, because a
    // caller may still be busy with `onProgress` and poll later.
    for (const [id, { opensAt, intervalMs }] of polls) {
      if (opensAt <= clock.elapsed() && intervalMs === DEFAULT_INTERVAL_MS) polls.delete(id);
    }
    polls.set(taskId, poll);
  }

  return {
    /**
     * When the gate opens, in elapsed milliseconds of the clock. For an unknown task this time is in the past.
     *
     * @throws ClientError of the answer that asked for a longer wait than `maxWaitMs`
     */
    opensAt(taskId: string): number {
      const { opensAt, refusal } = pollOf(taskId);
      if (refusal !== null) throw refusal;
      return opensAt;
    },
    /**
     * Returns whether the task can be polled now. If so, the gate closes for the interval of the last answer before the
     * poll is sent, because other callers may ask at the same time.
     */
    enter(taskId: string): boolean {
      const { intervalMs, opensAt, task } = pollOf(taskId);
      if (clock.elapsed() < opensAt) return false;
      set(taskId, { intervalMs, opensAt: clock.elapsed() + intervalMs, refusal: null, task });
      return true;
    },
    /** The last answer about the task while the gate is closed; null when the task can be polled instead. */
    lastAnswer(taskId: string): InvestigationTask | null {
      const { opensAt, task } = pollOf(taskId);
      return clock.elapsed() < opensAt ? task : null;
    },
    /** Takes the poll interval from an answer. A finished task is forgotten, because it is not polled again. */
    note(task: InvestigationTask): void {
      const { task_id, status, poll_after_seconds } = task;
      if (status !== "queued" && status !== "running") {
        polls.delete(task_id);
        return;
      }
      // With an interval of 0 the client would poll without a pause, so the default is used.
      const seconds = poll_after_seconds ?? 0;
      const intervalMs = seconds >= 1 ? seconds * 1000 : DEFAULT_INTERVAL_MS;
      set(task_id, { intervalMs, opensAt: clock.elapsed() + intervalMs, refusal: null, task });
    },
    /** Keeps the gate closed for at least as long as the error asks for. */
    postpone(taskId: string, error: ClientError): void {
      const { retryAfterMs: waitMs } = error;
      if (waitMs === null) return;
      const poll = pollOf(taskId);
      const opensAt = Math.max(poll.opensAt, clock.elapsed() + waitMs);
      set(taskId, { ...poll, opensAt, refusal: waitMs > maxWaitMs ? error : poll.refusal });
    },
  };
}
