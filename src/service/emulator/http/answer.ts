import type { ServerResponse } from "node:http";
import type { ErrorEnvelope } from "../../contract/error-envelope.js";
import type { ReportEvent } from "../instance/events.js";
import { ServiceError } from "../operations/service-error.js";

export interface Answer {
  status: number;
  headers: Readonly<Record<string, string>>;
  /** Bytes are sent as they are, everything else as JSON. */
  body: object;
}

export function sendAnswer(
  response: ServerResponse,
  { status, headers, body }: Answer,
  { requestId, hasBody, nowMs }: { requestId: string; hasBody: boolean; nowMs: number },
): void {
  const bytes = body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body));
  response.writeHead(status, {
    "Content-Type":
      body instanceof Uint8Array ? "application/octet-stream" : "application/json; charset=utf-8",
    "Content-Length": bytes.byteLength,
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Request-Id": requestId,
    // Uses the emulator's clock, because clients compare times in answers with this header.
    Date: new Date(nowMs).toUTCString(),
    ...headers,
  });
  response.end(hasBody ? bytes : undefined);
}

/** For a bug, or a full disk. What happened goes only to the log. */
const FAILURE = {
  status: 500,
  headers: {},
  code: "INTERNAL_ERROR",
  message: "The emulator failed; see its log.",
  details: undefined,
};

/**
 * Makes the answer for an error (service document, Error envelope). Reports errors that are not
 * refusals.
 */
export function errorAnswer(error: unknown, requestId: string, report: ReportEvent): Answer {
  const isRefusal = error instanceof ServiceError;
  if (!isRefusal) report({ event: "failed", about: "a call failed", error, request_id: requestId });
  const { status, headers, code, message, details } = isRefusal ? error : FAILURE;
  const body: ErrorEnvelope = {
    error: { code, message, ...(details !== undefined && { details }) },
    request_id: requestId,
  };
  return { status, headers, body };
}
