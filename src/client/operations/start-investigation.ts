import { z } from "zod";
import { startInvestigationBodySchema, type InvestigationTask } from "../../api/investigation.js";
import type { ServiceLocale } from "../../api/locale.js";
import type { PlatformAbortSignal } from "../platform.js";
import type { CallOperation } from "../transport/call-operation.js";
import { checkInput, invalidRequest } from "./check-input.js";

/** What `startInvestigation` takes. */
export interface StartInvestigationInput {
  /** The canonical slug of a product or category. */
  slug: string;
  /** The report's language. @default the service's: "en" */
  locale?: ServiceLocale | undefined;
  /**
   * A UUID that makes repeats harmless: the same key, product and language return the same task. If a task must not start
   * twice, store the key where a restart finds it. @default a new one for each call, the same in all of its attempts
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

/** Operation 1. */
export async function startInvestigation(
  callOperation: CallOperation,
  input: StartInvestigationInput,
  signal: PlatformAbortSignal | undefined,
): Promise<InvestigationTask> {
  const operation = "startInvestigation";
  const { idempotencyKey = newKey(), confirmUsage, ...body } = checkInput(operation, inputSchema, input);
  return callOperation({
    operation,
    body: { ...body, idempotency_key: idempotencyKey, confirm_usage: confirmUsage },
    idempotencyKey,
    signal,
  });
}

function newKey(): string {
  // Browsers have it only in secure contexts.
  if (typeof globalThis.crypto?.randomUUID === "function") return globalThis.crypto.randomUUID();
  throw invalidRequest("startInvestigation", "There is no crypto.randomUUID here.", "Give an idempotencyKey, a UUID.");
}
