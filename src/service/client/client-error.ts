import type { OperationName } from "../contract/operations.js";
import type { Quota } from "./transport/raw-answer.js";

/**
 * What kind of failure a {@link ClientError} is: a closed set. docs/client.md has a row for each.
 */
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

/**
 * The fields of a {@link ClientError} in addition to its message. A field that is left out is
 * `null`, 0 or false.
 */
export type ClientErrorFields = Pick<ClientError, "kind" | "operation" | "help"> & {
  [Name in Exclude<keyof ClientError, keyof Error | symbol>]?:
    Exclude<ClientError[Name], null> | undefined;
} & { cause?: unknown };

const BRAND = Symbol.for("signalbox.client_error");

/**
 * Why a call failed. Branch on `kind`, which is a closed set. `code` is the service's own text.
 *
 * It is not a `SignalboxError`, because the codes of that class are a closed set, and the service
 * can add codes.
 */
export class ClientError extends Error {
  readonly kind: ClientErrorKind;
  readonly operation: OperationName;
  /** The HTTP status; null when there was no answer. */
  readonly status: number | null;
  /**
   * The service's `error.code` (service document, Error envelope); null when the answer had no such
   * envelope.
   */
  readonly code: string | null;
  /** The service's `request_id`, for questions to its support. */
  readonly requestId: string | null;
  /** The service's `error.details`; undefined when there are none. */
  readonly details: unknown;
  /** The number of requests that the call sent, including retries. */
  readonly attempts: number;
  /**
   * True when the same call can be repeated without harm and may then succeed, after `retryAfterMs`
   * if that is set.
   */
  readonly retryable: boolean;
  /**
   * Milliseconds that the service asks to wait before the next request; null when it does not say.
   */
  readonly retryAfterMs: number | null;
  /**
   * When the service accepts the next request. When `kind` is `quota`: when the quota is full
   * again.
   */
  readonly resetAt: Date | null;
  /** The monthly quota, when the answer had it. */
  readonly quota: Quota | null;
  /**
   * The key that `startInvestigation` sent. If the service started the task, a call with the same
   * key returns that task.
   */
  readonly idempotencyKey: string | null;
  /** What the user can do about the failure. `message` ends with this text. */
  readonly help: string;
  /** @internal marks the class across two installed copies of the package */
  readonly [BRAND] = true;
  readonly #answer: unknown;

  constructor(message: string, fields: ClientErrorFields) {
    super(
      `${message} ${fields.help}`.trimEnd(),
      fields.cause === undefined ? undefined : { cause: fields.cause },
    );
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
   * The JSON of the answer, when `kind` is `invalid_answer`. It may hold the signing secret of a
   * registration, which cannot be requested again. The field is private, so that no log shows the
   * secret.
   */
  get answer(): unknown {
    return this.#answer;
  }
}

/** True for every `ClientError`, even from another installed copy of the package. */
export function isClientError(value: unknown): value is ClientError {
  return typeof value === "object" && value !== null && BRAND in value;
}
