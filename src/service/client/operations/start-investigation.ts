import { z } from "zod";
import {
  startInvestigationBodySchema,
  type InvestigationTask,
} from "../../contract/investigation.js";
import type { ServiceLocale } from "../../contract/locale.js";
import type { PlatformAbortSignal } from "../transport/platform.js";
import type { CallOperation } from "../transport/call-operation.js";
import { checkInput } from "./check-input.js";

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
