import {
  createClient,
  type Client,
  type ClientError,
  type ClientOptions,
} from "../../../../src/service/client/index.js";
import { isClientError } from "../../../../src/service/client/index.js";
import { createWatchedClock, TIMEOUT_MS, type WatchedClock } from "./watched-clock.js";

export const API_KEY = "key_live_0123456789abcdef";

/** A client of that server, on a clock that stands still, without jitter. */
export function clientOn(
  baseUrl: string,
  options: Partial<ClientOptions> = {},
  clock: WatchedClock = createWatchedClock(),
): { client: Client; clock: WatchedClock } {
  const own = { baseUrl, apiKey: API_KEY, timeoutMs: TIMEOUT_MS, clock, random: () => 1 };
  return { client: createClient({ ...own, ...options }), clock };
}

/** The ClientError that a call rejects with; anything else fails the test. */
export async function failureOf(call: Promise<unknown>): Promise<ClientError> {
  const error: unknown = await call.then(
    () => new Error("nothing was rejected"),
    (reason: unknown) => reason,
  );
  if (isClientError(error)) return error;
  throw error;
}
