import type { IncomingMessage } from "node:http";
import { parameterError } from "../operations/parse-input.js";
import { ServiceError } from "../operations/service-error.js";

const JSON_TYPE = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The JSON object in the bytes of a body. @throws ServiceError INVALID_BODY */
export function jsonObject(bytes: Buffer, { headers }: IncomingMessage): object {
  if (!JSON_TYPE.test(headers["content-type"] ?? "")) throw refusal("the header Content-Type must be application/json");
  if ((headers["content-encoding"] ?? "identity") !== "identity") throw refusal("the body must not be compressed");
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

const refusal = (problem: string): ServiceError => parameterError("INVALID_BODY", [{ parameter: "", problem }]);

/**
 * The bytes of a request's body.
 *
 * @throws ServiceError INVALID_BODY when it is larger than `limitBytes`, or when the client went away
 */
export function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", onData).on("end", onEnd).on("close", onClose);

    function stop(): void {
      request.off("data", onData).off("end", onEnd).off("close", onClose);
    }
    function onData(chunk: Buffer): void {
      size += chunk.length;
      if (size <= limitBytes) {
        chunks.push(chunk);
        return;
      }
      stop();
      // The rest is read and dropped. A connection that is closed at once could lose the answer by a reset.
      request.resume();
      const message = `The body must be at most ${limitBytes} bytes.`;
      reject(new ServiceError("INVALID_BODY", message, { headers: { Connection: "close" } }));
    }
    function onEnd(): void {
      stop();
      resolve(Buffer.concat(chunks));
    }
    function onClose(): void {
      stop();
      reject(new ServiceError("INVALID_BODY", "The body ended early."));
    }
  });
}
