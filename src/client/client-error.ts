import type { OperationName } from "../api/operations.js";
import type { Quota } from "./transport/quota.js";

/** What kind of failure a {@link ClientError} is: a closed set. The README has a row for each. */
export type ClientErrorKind =
  | "http"
  | "quota"
  | "rate"
  | "limit"
  | "unavailable"
  | "network"
  | "timeout"
  | "redirect"
  | "invalid_answer"
  | "invalid_request"
  | "api_key";

/** The fields of a {@link ClientError} beside its message. */
export interface ClientErrorFields {
  kind: ClientErrorKind;
  operation: OperationName;
  /** What to do. */
  help: string;
  status?: number | undefined;
  code?: string | undefined;
  requestId?: string | undefined;
  details?: unknown;
  attempts?: number | undefined;
  retryable?: boolean | undefined;
  retryAfterMs?: number | undefined;
  resetAt?: Date | undefined;
  quota?: Quota | undefined;
  idempotencyKey?: string | undefined;
  answer?: unknown;
  cause?: unknown;
}

const BRAND = Symbol.for("signalbox.client_error");

/**
 * Why an operation of the service failed. Branch on `kind`, which is a closed set; `code` is the service's own text.
 *
 * It is not a `SignalboxError`: those have a closed set of codes, and the service's codes are open.
 */
export class ClientError extends Error {
  /** The kind of failure: a closed set. */
  readonly kind: ClientErrorKind;
  /** The operation that failed. */
  readonly operation: OperationName;
  /** The HTTP status; null when there was no answer. */
  readonly status: number | null;
  /** The service's `error.code` (service document, Error envelope); null when the answer had no such envelope. */
  readonly code: string | null;
  /** The service's `request_id`: name it when you ask its support. */
  readonly requestId: string | null;
  /** The service's `error.details`; undefined when there are none. */
  readonly details: unknown;
  /** How many requests were sent. */
  readonly attempts: number;
  /** True when the same call can be repeated without harm and may then succeed, after `retryAfterMs` if that is set. */
  readonly retryable: boolean;
  /** Milliseconds that the service asks to wait before the next request; null when it does not say. */
  readonly retryAfterMs: number | null;
  /** When `retryAfterMs` is over. When `kind` is `quota`: when the quota is full again. */
  readonly resetAt: Date | null;
  /** The monthly quota, when the answer had it. */
  readonly quota: Quota | null;
  /** The key that `startInvestigation` sent. If the task did start, the same key returns it. */
  readonly idempotencyKey: string | null;
  /** What to do; also the end of `message`. */
  readonly help: string;
  /** @internal marks the class across two installed copies of the package */
  readonly [BRAND] = true;
  readonly #answer: unknown;

  constructor(message: string, fields: ClientErrorFields) {
    super(`${message} ${fields.help}`.trimEnd(), fields.cause === undefined ? undefined : { cause: fields.cause });
    this.name = "ClientError";
    this.kind = fields.kind;
    this.operation = fields.operation;
    this.status = fields.status ?? null;
    this.code = fields.code ?? null;
    this.requestId = fields.requestId ?? null;
    this.details = fields.details;
    this.attempts = fields.attempts ?? 0;
    this.retryable = fields.retryable ?? false;
    this.retryAfterMs = fields.retryAfterMs ?? null;
    this.resetAt = fields.resetAt ?? null;
    this.quota = fields.quota ?? null;
    this.idempotencyKey = fields.idempotencyKey ?? null;
    this.help = fields.help;
    this.#answer = fields.answer;
  }

  /**
   * The JSON of an answer that does not have the documented shape, when `kind` is `invalid_answer`. It may hold the signing
   * secret of a registration, which cannot be requested again. A getter over a private field, so that no log shows it.
   */
  get answer(): unknown {
    return this.#answer;
  }
}

/** True for any `ClientError`, also one thrown by another installed copy of the package. */
export function isClientError(value: unknown): value is ClientError {
  try {
    return typeof value === "object" && value !== null && BRAND in value;
  } catch {
    // A proxy whose `has` trap throws.
    return false;
  }
}
