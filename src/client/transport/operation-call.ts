import type { OperationName } from "../../api/operations.js";
import type { PlatformAbortSignal } from "../platform.js";

/** One call of an operation, its input checked. */
export interface OperationCall {
  operation: OperationName;
  /** The values of `{name}` in the operation's path. */
  path?: Readonly<Record<string, string>>;
  query?: object;
  body?: object;
  /** Of a started investigation; told with its errors. */
  idempotencyKey?: string;
  signal?: PlatformAbortSignal | undefined;
  /** Fewer than the client's, where somebody else tries again. */
  maxAttempts?: number;
}
