import { OPERATIONS, type Operation, type OperationName } from "../../contract/operations.js";
import type { PlatformAbortSignal } from "./platform.js";

/** A call of an operation, with a valid input. */
export interface OperationCall {
  operation: OperationName;
  /** The values of `{name}` in the operation's path. */
  path?: Readonly<Record<string, string>>;
  query?: object;
  body?: object;
  /** The key of `startInvestigation`, which its errors contain. */
  idempotencyKey?: string;
  signal?: PlatformAbortSignal | undefined;
  /** @default the client's `retry.maxAttempts` */
  maxAttempts?: number;
}

/** A request without the API key. */
export interface PlainRequest {
  method: Operation["method"];
  url: string;
  headers: Record<string, string>;
  body: string | null;
}

export function buildRequest(
  call: OperationCall,
  baseUrl: string,
  userAgent: string | null,
): PlainRequest {
  const { method, path }: Operation = OPERATIONS[call.operation];
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(call.path?.[name] ?? ""),
  );
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(call.query ?? {})) query.append(name, String(value));
  const headers: Record<string, string> = { Accept: "application/json" };
  if (userAgent !== null) headers["User-Agent"] = userAgent;
  if (call.body !== undefined) headers["Content-Type"] = "application/json";
  return {
    method,
    url: `${baseUrl}${filled}${query.size > 0 ? `?${query.toString()}` : ""}`,
    headers,
    body: call.body === undefined ? null : JSON.stringify(call.body),
  };
}
