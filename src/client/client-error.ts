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

/** What a {@link ClientError} tells beside its message. */
export interface ClientErrorFields {
  kind: ClientErrorKind;
  operation: OperationName;
  /** What to do about it. */
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
 * Why an operation of the service gave nothing. Branch on `kind`, which is a closed set; `code` is the service's own text.
 *
 * No `SignalboxError`: its codes are a closed set of this package's, those of the service are open.
 */
export class ClientError extends Error {
  /** What kind of failure: a closed set. */
  readonly kind: ClientErrorKind;
  /** The operation that failed. */
  readonly operation: OperationName;
  /** The HTTP status; null when there was no answer. */
  readonly status: number | null;
  /** The service's `error.code` (service document, Error envelope); null when the answer had no such envelope. */
  readonly code: string | null;
  /** The service's `request_id`: name it when you ask about this. */
  readonly requestId: string | null;
  /** The service's `error.details`; undefined when there are none. */
  readonly details: unknown;
  /** How many requests were sent. */
  readonly attempts: number;
  /** True when the same call does no harm if repeated and may then succeed, after `retryAfterMs` if that is set. */
  readonly retryable: boolean;
  /** Milliseconds that the service wants to be left alone; null when it does not say. */
  readonly retryAfterMs: number | null;
  /** The moment when `retryAfterMs` is over; that of the quota's reset when `kind` is `quota`. */
  readonly resetAt: Date | null;
  /** The monthly quota, when the answer told it. */
  readonly quota: Quota | null;
  /** The key that `startInvestigation` sent: give it again to get that task, if it was started after all. */
  readonly idempotencyKey: string | null;
  /** What to do about it; also the last sentence of `message`. */
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
   * The JSON of an answer that is not of the documented shape, when `kind` is `invalid_answer`. It may hold what cannot be
   * asked for again, such as the signing secret of a registration; so no log shows it.
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
    // A proxy that does not want to be looked at.
    return false;
  }
}
