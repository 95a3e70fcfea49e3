import type { InvestigationTask } from "../../api/investigation.js";
import { ClientError, isClientError } from "../client-error.js";
import { LONGEST_DELAY_MS } from "../../time/units.js";
import type { ClientConfig } from "../client-options.js";
import type { PlatformAbortSignal } from "../platform.js";
import { openAbortScope, pauseUntil } from "../transport/abort-scope.js";
import { checkCallOptions, checkPathParameter, invalidRequest } from "./check-input.js";
import type { PollGate } from "./poll-gate.js";

/** The options of `waitForInvestigation`. */
export interface WaitForInvestigationOptions {
  /** Ends the wait immediately. The call then rejects with the signal's reason. The investigation continues. */
  signal?: PlatformAbortSignal | undefined;
  /**
   * Called immediately with the last answer that this client got, such as that of `startInvestigation`, and with the answer of
   * each poll. If it throws, the wait rejects with that error.
   */
  onProgress?: ((task: InvestigationTask) => void | Promise<void>) | undefined;
  /** The longest wait, in milliseconds. After it the call rejects with a `ClientError` of kind `timeout`. @default no limit */
  timeoutMs?: number | undefined;
}

/** An investigation that does not change any more. */
export type FinishedInvestigation = InvestigationTask & { status: "succeeded" | "failed" | "cancelled" };

/** Sends one read, without retries. */
export type ReadOnce = (taskId: string, signal: PlatformAbortSignal) => Promise<InvestigationTask>;

const OPTIONS: readonly (keyof WaitForInvestigationOptions)[] = ["signal", "onProgress", "timeoutMs"];

/**
 * Polls the task when its gate opens, until the task is finished. A failed poll is not retried immediately: the next
 * poll is the retry, so there is always the interval between two polls that the service asks for. Rejects after `maxAttempts`
 * retryable failures in a row.
 */
export async function waitForInvestigation(
  { clock, retry }: Pick<ClientConfig, "clock" | "retry">,
  gate: PollGate,
  readOnce: ReadOnce,
  taskId: string,
  options: WaitForInvestigationOptions,
): Promise<FinishedInvestigation> {
  const { signal, onProgress, timeoutMs } = checkCallOptions("readInvestigation", options, OPTIONS);
  checkPathParameter("readInvestigation", "task_id", taskId);
  if (timeoutMs !== undefined && !(timeoutMs > 0 && timeoutMs <= LONGEST_DELAY_MS)) {
    throw invalidRequest("readInvestigation", `"timeoutMs" must be from 1 to ${LONGEST_DELAY_MS}.`, "");
  }
  let last = gate.lastAnswer(taskId);
  const onTimeout = (): Error =>
    new ClientError(
      `The investigation was not finished after ${timeoutMs} ms: it is ${last?.status ?? "not read yet"}.`,
      {
        kind: "timeout",
        operation: "readInvestigation",
        help: "The investigation continues, so you can wait for it again.",
        retryable: true,
      },
    );
  const scope = openAbortScope({ signal, clock, timeoutMs, onTimeout });
  const report = (task: InvestigationTask) => scope.race(Promise.resolve(onProgress?.(task)));
  try {
    scope.signal.throwIfAborted();
    if (last !== null) await report(last);
    for (let failures = 0; ;) {
      scope.signal.throwIfAborted();
      while (!gate.enter(taskId)) await pauseUntil(clock, () => gate.opensAt(taskId), scope.signal);
      try {
        last = await readOnce(taskId, scope.signal);
        failures = 0;
      } catch (error) {
        if (scope.signal.aborted || !isClientError(error) || !error.retryable) throw error;
        if (++failures >= retry.maxAttempts) throw error;
        continue;
      }
      await report(last);
      if (isFinished(last)) return last;
    }
  } finally {
    scope.close();
  }
}

function isFinished(task: InvestigationTask): task is FinishedInvestigation {
  return task.status !== "queued" && task.status !== "running";
}
