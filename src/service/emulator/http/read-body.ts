import type { IncomingMessage } from "node:http";
import { finished } from "node:stream";
import getRawBody from "raw-body";
import { parameterError } from "../operations/parse-input.js";
import { ServiceError } from "../operations/service-error.js";

/** A call of the service with a larger body is refused. Documented bodies are much smaller. */
export const BODY_LIMIT_BYTES = 64 * 1024;

const JSON_TYPE = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

/** Refuses bytes that are not UTF-8. Keeps a BOM, which JSON does not allow. */
export const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Parses the JSON object in a body. @throws ServiceError INVALID_BODY */
export function jsonObject(bytes: Buffer, { headers }: IncomingMessage): object {
  if (!JSON_TYPE.test(headers["content-type"] ?? ""))
    throw refusal("the header Content-Type must be application/json");
  if ((headers["content-encoding"] ?? "identity") !== "identity")
    throw refusal("the body must not be compressed");
  let value: unknown;
  try {
    value = JSON.parse(utf8.decode(bytes));
  } catch (error) {
    throw refusal(error instanceof SyntaxError ? "the body is not JSON" : "the body is not UTF-8");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw refusal("the body must be a JSON object");
  }
  return value;
}

const refusal = (problem: string): ServiceError =>
  parameterError("INVALID_BODY", [{ parameter: "", problem }]);

/**
 * Reads the body of a request.
 *
 * @throws ServiceError INVALID_BODY when the body is larger than `limitBytes`, or when the client
 * disconnected
 */
export async function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  try {
    return await getRawBody(request, { limit: limitBytes });
  } catch {
    await dropRest(request);
    const message = `The body must be complete and at most ${limitBytes} bytes.`;
    throw new ServiceError("INVALID_BODY", message, { headers: { Connection: "close" } });
  }
}

/** So much of a refused body is read, for so long; then the connection ends. */
const MOST_DROPPED_BYTES = 64 * 1024 * 1024;
const MOST_DROPPED_MS = 2000;

/**
 * Reads the rest of a body and drops it. If the connection were closed before, the client could get
 * an error while it writes, and not read the answer.
 */
function dropRest(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let dropped = 0;
    request.on("data", (chunk: Buffer) => {
      dropped += chunk.length;
      if (dropped > MOST_DROPPED_BYTES) resolve();
    });
    const timeout = setTimeout(resolve, MOST_DROPPED_MS);
    finished(request, { writable: false }, () => {
      clearTimeout(timeout);
      resolve();
    });
    request.resume();
  });
}
