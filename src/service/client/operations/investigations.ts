import { z } from "zod";
import { LONGEST_DELAY_MS } from "../../../base/time/units.js";
import {
  startInvestigationBodySchema,
  type InvestigationTask,
} from "../../contract/investigation.js";
import { LIMITS } from "../../contract/limits.js";
import type { ServiceLocale } from "../../contract/shared-schemas.js";
import { ClientError, isClientError } from "../client-error.js";
import type { ClientConfig } from "../client-options.js";
import type { CallOperation } from "../transport/call-operation.js";
import {
  type PlatformAbortSignal,
  openAbortScope,
  pauseUntil,
  raceAbort,
} from "../transport/platform.js";
import { checkInput, checkCallOptions, checkPathParameter, invalidRequest } from "./check-input.js";

/** The input of `startInvestigation`. */
export interface StartInvestigationInput {
  /** The canonical slug of a product or category. */
  slug: string;
  /** The report's language. @default the service's: "en" */
  locale?: ServiceLocale | undefined;
  /**
   * A UUID. Calls with the same key, product and language return the same task. If a restart of
   * your process must not start a task twice, store the key before the call. @default a new key for
   * each call, the same in all of its attempts
   */
  idempotencyKey?: string | undefined;
  /** You agree that the investigation uses the account's research allowance. */
  confirmUsage: true;
}

const { slug, idempotency_key, confirm_usage } = startInvestigationBodySchema.shape;

const inputSchema = z.strictObject({
  slug,
  locale: startInvestigationBodySchema.shape.locale.optional(),
  idempotencyKey: idempotency_key.optional(),
  confirmUsage: confirm_usage,
});

export async function startInvestigation(
  callOperation: CallOperation,
  input: StartInvestigationInput,
  signal: PlatformAbortSignal | undefined,
): Promise<InvestigationTask> {
  const operation = "startInvestigation";
  const checked = checkInput(operation, inputSchema, input);
  const { idempotencyKey = globalThis.crypto.randomUUID(), confirmUsage, ...body } = checked;
  return callOperation({
    operation,
    body: { ...body, idempotency_key: idempotencyKey, confirm_usage: confirmUsage },
    idempotencyKey,
    signal,
  });
}

/** The options of `waitForInvestigation`. */
export interface WaitForInvestigationOptions {
  /**
   * Ends the wait immediately. The call then rejects with the signal's reason. The investigation
   * continues.
   */
  signal?: PlatformAbortSignal | undefined;
  /**
   * Called immediately with the last answer that this client got, such as that of
   * `startInvestigation`, and with the answer of each poll. If it throws, the wait rejects with
   * that error.
   */
  onProgress?: ((task: InvestigationTask) => void | Promise<void>) | undefined;
  /**
   * The longest wait, in milliseconds. After it the call rejects with a `ClientError` of kind
   * `timeout`. @default no limit
   */
  timeoutMs?: number | undefined;
}

/** An investigation that does not change any more. */
export type FinishedInvestigation = InvestigationTask & {
  status: "succeeded" | "failed" | "cancelled";
};

/** The last answer about a task. */
export interface KnownTask {
  task: InvestigationTask;
  /** In elapsed milliseconds of the clock. */
  answeredAt: number;
}

/** Sends one read, without retries. */
type ReadOnce = (taskId: string, signal: PlatformAbortSignal) => Promise<InvestigationTask>;

const OPTIONS: readonly (keyof WaitForInvestigationOptions)[] = [
  "signal",
  "onProgress",
  "timeoutMs",
];

/** With an interval of 0 the client would poll without a pause, so the default is used. */
function intervalOf({ poll_after_seconds: seconds }: InvestigationTask): number {
  return (seconds !== null && seconds >= 1 ? seconds : LIMITS.pollAfterSeconds) * 1000;
}

/**
 * Polls the task until it is finished, each time after the interval that the last answer asks for.
 * A failed poll is not retried immediately: the next poll is the retry. Rejects after `maxAttempts`
 * retryable failures in a row.
 */
export async function waitForInvestigation(
  { clock, retry }: Pick<ClientConfig, "clock" | "retry">,
  known: KnownTask | undefined,
  readOnce: ReadOnce,
  taskId: string,
  options: WaitForInvestigationOptions,
): Promise<FinishedInvestigation> {
  const {
    signal: givenSignal,
    onProgress,
    timeoutMs,
  } = checkCallOptions("readInvestigation", options, OPTIONS);
  checkPathParameter("readInvestigation", "task_id", taskId);
  if (timeoutMs !== undefined && !(timeoutMs > 0 && timeoutMs <= LONGEST_DELAY_MS)) {
    throw invalidRequest(
      "readInvestigation",
      `"timeoutMs" must be from 1 to ${LONGEST_DELAY_MS}.`,
      "",
    );
  }
  let last = known?.task;
  let intervalMs = last === undefined ? LIMITS.pollAfterSeconds * 1000 : intervalOf(last);
  let pollAt = known === undefined ? -Infinity : known.answeredAt + intervalMs;
  const { controller, signal, close } = openAbortScope(givenSignal);
  const timer =
    timeoutMs === undefined
      ? null
      : clock.setTimeout(() => controller.abort(timeUp(timeoutMs, last?.status)), timeoutMs);
  const report = (task: InvestigationTask) =>
    raceAbort(Promise.resolve(onProgress?.(task)), signal);
  try {
    signal.throwIfAborted();
    if (last !== undefined) await report(last);
    for (let failures = 0; ;) {
      await pauseUntil(clock, pollAt, signal);
      try {
        last = await readOnce(taskId, signal);
        failures = 0;
      } catch (error) {
        if (signal.aborted || !isClientError(error) || !error.retryable) throw error;
        const askedMs = error.retryAfterMs ?? 0;
        if (++failures >= retry.maxAttempts || askedMs > retry.maxWaitMs) throw error;
        pollAt = clock.elapsed() + Math.max(intervalMs, askedMs);
        continue;
      }
      intervalMs = intervalOf(last);
      pollAt = clock.elapsed() + intervalMs;
      await report(last);
      if (isFinished(last)) return last;
    }
  } finally {
    timer?.cancel();
    close();
  }
}

function timeUp(timeoutMs: number, status = "not read yet"): ClientError {
  return new ClientError(
    `The investigation was not finished after ${timeoutMs} ms: it is ${status}.`,
    {
      kind: "timeout",
      operation: "readInvestigation",
      help: "The investigation continues, so you can wait for it again.",
      retryable: true,
    },
  );
}

export function isFinished(task: InvestigationTask): task is FinishedInvestigation {
  return task.status !== "queued" && task.status !== "running";
}
