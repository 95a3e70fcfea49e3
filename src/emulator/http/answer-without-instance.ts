import type { EmulatorConfig } from "../instance/options.js";
import { randomUuid } from "../instance/random-source.js";
import { ServiceError } from "../operations/service-error.js";
import { sendAnswer } from "./answer.js";
import type { RequestListener } from "./create-app.js";
import { envelope } from "./error-answer.js";

/** Why nothing is answered any more. */
export const withoutWorld = (): ServiceError =>
  new ServiceError(
    "DATA_UNAVAILABLE",
    "The emulator's file could not be opened again; see to the disk, and start the emulator anew.",
  );

/** Answers every call when there is no world left to answer it. */
export function answerWithoutWorld({ random, clock }: Pick<EmulatorConfig, "random" | "clock">): RequestListener {
  return (request, response) => {
    const requestId = `req_${randomUuid(random)}`;
    const { status, headers, code, message } = withoutWorld();
    const answer = { status, headers, body: envelope(code, message, requestId) };
    sendAnswer(response, answer, { requestId, hasBody: request.method !== "HEAD", nowMs: clock.now() });
  };
}
