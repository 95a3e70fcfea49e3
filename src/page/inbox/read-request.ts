import type { IncomingMessage } from "node:http";
import getRawBody from "raw-body";
import { parseJson } from "../../base/text/parse-json.js";
import type { Clock } from "../../base/time/clock.js";
import { withDeadline } from "../../base/time/timers.js";
import { capturedRawBody } from "../../kit/receiver/capture-raw-body.js";
import { Refusal, refuseInput } from "./refusal.js";

const MOST_BYTES = 1024 * 1024;
const TIMEOUT_MS = 10_000;
const MOST_MOVED = 1000;

/** Reads the body of a move. @throws Refusal 400, 408 or 413 */
export async function readEventIds(
  request: IncomingMessage,
  clock: Clock,
  least: 0 | 1,
): Promise<string[]> {
  const { eventIds } = ((await readJson(request, clock)) ?? {}) as { eventIds?: unknown };
  const isList =
    Array.isArray(eventIds) && eventIds.length >= least && eventIds.length <= MOST_MOVED;
  if (isList && eventIds.every((id) => typeof id === "string")) return eventIds;
  return refuseInput(`"eventIds" must be a list of ${least} to ${MOST_MOVED} event ids.`);
}

/** If the application has parsed the body already, that value is used. */
async function readJson(request: IncomingMessage, clock: Clock): Promise<unknown> {
  const { body } = request as { body?: unknown };
  if (typeof body === "object" && body !== null && !ArrayBuffer.isView(body)) return body;
  const bytes =
    capturedRawBody(request) ??
    (typeof body === "string" ? Buffer.from(body) : await readStream(request, clock));
  const json = parseJson(bytes);
  return json.ok ? json.value : refuseInput("The body is not JSON.");
}

async function readStream(request: IncomingMessage, clock: Clock): Promise<Buffer> {
  const length = request.headers["content-length"] ?? null;
  const reading = getRawBody(request, { limit: MOST_BYTES, length }).catch((error: unknown) => {
    if ((error as { status?: unknown }).status !== 413)
      return refuseInput("The body could not be read.");
    throw new Refusal(413, "body_too_large", `The body is larger than ${MOST_BYTES} bytes.`, CLOSE);
  });
  const bytes = await withDeadline(reading, clock, TIMEOUT_MS, null);
  if (bytes === null) throw new Refusal(408, "body_timeout", "The body took too long.", CLOSE);
  return bytes;
}

const CLOSE = { Connection: "close" };
