import type { IncomingMessage } from "node:http";
import { ServiceError } from "../operations/service-error.js";

/**
 * The bytes of a request's body.
 *
 * @returns null when the client went away
 * @throws ServiceError INVALID_BODY when it is larger than `limitBytes`; the rest is not read
 */
export function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer | null> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const done = (): void => {
      request.off("data", onData).off("end", onEnd).off("close", onClose);
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size <= limitBytes) {
        chunks.push(chunk);
        return;
      }
      done();
      // Read to its end and dropped, so that the answer is not lost to a reset.
      request.resume();
      const message = `The body must be at most ${limitBytes} bytes.`;
      reject(new ServiceError("INVALID_BODY", message, { headers: { Connection: "close" } }));
    };
    const onEnd = (): void => {
      done();
      resolve(Buffer.concat(chunks));
    };
    const onClose = (): void => {
      done();
      resolve(null);
    };
    request.on("data", onData).on("end", onEnd).on("close", onClose);
  });
}
