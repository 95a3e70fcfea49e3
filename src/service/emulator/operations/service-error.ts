import { ERROR_STATUS, type ServiceErrorCode } from "../../contract/error-envelope.js";

/** Refuses a call. The message must not contain a value of the request. */
export class ServiceError extends Error {
  readonly code: ServiceErrorCode;
  readonly status: number;
  /** `error.details` of the error envelope. */
  readonly details: unknown;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ServiceErrorCode,
    message: string,
    options: { details?: unknown; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message);
    this.name = "ServiceError";
    this.code = code;
    this.status = ERROR_STATUS[code];
    this.details = options.details;
    this.headers = options.headers ?? {};
  }
}
