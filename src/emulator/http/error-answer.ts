import type { ErrorEnvelope } from "../../api/error-envelope.js";
import type { ReportEvent } from "../instance/events.js";
import { ServiceError } from "../operations/service-error.js";
import type { Answer } from "./answer.js";

/** The state of the file that holds everything, which a retry may find better. */
const PASSING = /^SQLITE_(BUSY|FULL|IOERR|READONLY|CANTOPEN|NOMEM)/;

/** The error envelope for whatever was thrown (service document, Error envelope). */
export function errorAnswer(error: unknown, requestId: string, report: ReportEvent): Answer {
  if (error instanceof ServiceError) {
    const { status, headers, code, message, details } = error;
    return { status, headers, body: envelope(code, message, requestId, details) };
  }
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  report({ event: "failed", about: "a call failed", error, request_id: requestId });
  if (PASSING.test(code)) {
    return { status: 503, headers: {}, body: envelope("DATA_UNAVAILABLE", "The data are not available.", requestId) };
  }
  // A bug of ours. Its text is for the log alone.
  return { status: 500, headers: {}, body: envelope("INTERNAL_ERROR", "The emulator failed; see its log.", requestId) };
}

export function envelope(code: string, message: string, requestId: string, details?: unknown): ErrorEnvelope {
  return { error: { code, message, ...(details !== undefined && { details }) }, request_id: requestId };
}
