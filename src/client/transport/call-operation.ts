import type { z } from "zod";
import type { OPERATIONS, OperationName } from "../../api/operations.js";
import { buildRequest } from "./build-request.js";
import type { ClientConfig } from "../client-options.js";
import type { OperationCall } from "./operation-call.js";
import { pauseUntil } from "./pause-until.js";
import { planRetry } from "./retry-wait.js";
import type { Quota } from "./quota.js";
import { sendAttempt } from "./send-attempt.js";

/** What an operation answers, as its schema has it. */
export type AnswerOf<Name extends OperationName> = z.infer<(typeof OPERATIONS)[Name]["response"]["schema"]>;

/** Calls operations, with their retries. */
export type CallOperation = <Name extends OperationName>(
  call: OperationCall & { operation: Name },
) => Promise<AnswerOf<Name>>;

/** @throws ClientError, or the reason of the caller's signal */
export function operationCaller(config: ClientConfig, onQuota: (quota: Quota) => void): CallOperation {
  const { clock, retry } = config;
  return async (call) => {
    const request = buildRequest(call, config.baseUrl, config.userAgent);
    for (let attempt = 1; ; attempt++) {
      const judgement = await sendAttempt(config, { call, attempt }, request, onQuota);
      if (judgement.ok) return judgement.value as AnswerOf<typeof call.operation>;
      const waitMs = planRetry(judgement.error, config, call.maxAttempts ?? retry.maxAttempts);
      if (waitMs === null) throw judgement.error;
      const resumeAt = clock.elapsed() + waitMs;
      await pauseUntil(clock, () => resumeAt, call.signal);
    }
  };
}
