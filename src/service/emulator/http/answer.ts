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

/**
 * Makes the answer for an error (service document, Error envelope). Reports errors that are not
 * refusals.
 */
export function errorAnswer(error: unknown, requestId: string, report: ReportEvent): Answer {
  if (error instanceof ServiceError) {
    const { status, headers, code, message, details } = error;
    return { status, headers, body: envelope(code, message, requestId, details) };
  }
  report({ event: "failed", about: "a call failed", error, request_id: requestId });
  // A bug, or a disk that is full. The text goes only to the log.
  return {
    status: 500,
    headers: {},
    body: envelope("INTERNAL_ERROR", "The emulator failed; see its log.", requestId),
  };
}

export function envelope(
  code: string,
  message: string,
  requestId: string,
  details?: unknown,
): ErrorEnvelope {
  return {
    error: { code, message, ...(details !== undefined && { details }) },
    request_id: requestId,
  };
}
