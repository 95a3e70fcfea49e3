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
  readonly kind!: ClientErrorKind;
  readonly operation!: OperationName;
  /** The HTTP status; null when there was no answer. */
  readonly status: number | null = null;
  /**
   * The service's `error.code` (service document, Error envelope); null when the answer had no such
   * envelope.
   */
  readonly code: string | null = null;
  /** The service's `request_id`, for questions to its support. */
  readonly requestId: string | null = null;
  /** The service's `error.details`; undefined when there are none. */
  readonly details: unknown;
  /** The number of requests that the call sent, including retries. */
  readonly attempts: number = 0;
  /**
   * True when the same call can be repeated without harm and may then succeed, after `retryAfterMs`
   * if that is set.
   */
  readonly retryable: boolean = false;
  /**
   * Milliseconds that the service asks to wait before the next request; null when it does not say.
   */
  readonly retryAfterMs: number | null = null;
  /**
   * When the service accepts the next request. When `kind` is `quota`: when the quota is full
   * again.
   */
  readonly resetAt: Date | null = null;
  /** The monthly quota, when the answer had it. */
  readonly quota: Quota | null = null;
  /**
   * The key that `startInvestigation` sent. If the service started the task, a call with the same
   * key returns that task.
   */
  readonly idempotencyKey: string | null = null;
  /** What the user can do about the failure. `message` ends with this text. */
  readonly help!: string;
  /** @internal marks the class across two installed copies of the package */
  readonly [BRAND] = true;
  readonly #answer: unknown;

  constructor(message: string, { answer, cause, ...fields }: ClientErrorFields) {
    super(`${message} ${fields.help}`.trimEnd(), cause === undefined ? undefined : { cause });
    this.name = "ClientError";
    const given = Object.entries(fields).filter(([, value]) => value !== undefined);
    Object.assign(this, Object.fromEntries(given));
    this.#answer = answer;
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
