import { z } from "zod";
import type { Clock } from "../time/clock.js";
import { invalidOption, optionError, type KnownOptions } from "../options/option-error.js";
import { apiKeyProblem, type ApiKeySource } from "./transport/api-key.js";
import { clientClock } from "./client-clock.js";
import { parseBaseUrl } from "./parse-base-url.js";
import type { PlatformFetch } from "./platform.js";

/** How often and how patiently the client tries again. */
export interface ClientRetryOptions {
  /** Requests for one call, the first one counted; 1 means no retry. @default 4 */
  maxAttempts?: number | undefined;
  /** Upper bound of the first wait in milliseconds; it doubles with each attempt, and at least half of it is waited. @default 1000 */
  baseMs?: number | undefined;
  /** Upper bound of any wait that the service did not ask for, in milliseconds. @default 30000 */
  maxMs?: number | undefined;
  /** The longest wait that the service may ask for, in milliseconds; for a longer one the call fails at once. @default 60000 */
  maxWaitMs?: number | undefined;
}

/** What a user gives to `createClient`. A value of `undefined` means absent. */
export interface ClientOptions {
  /** The base address, with the API prefix: `https://api.example/v1`. HTTPS, but for loopback. */
  baseUrl: string;
  /** The API key, or a function that gives it for each request; `productProfile` works without. @default none */
  apiKey?: ApiKeySource | undefined;
  /** Milliseconds for one request, from its key to the last byte of its answer. @default 30000 */
  timeoutMs?: number | undefined;
  /** How a call is tried again. */
  retry?: ClientRetryOptions | undefined;
  /** Largest answer, in bytes after decompression. @default 8388608 (8 MiB) */
  answerLimitBytes?: number | undefined;
  /** The `User-Agent` header. @default the platform's */
  userAgent?: string | undefined;
  /** What sends the requests. @default the platform's `fetch`, as it is at the time of the request */
  fetch?: PlatformFetch | undefined;
  /** Where time comes from; for tests. @default the system's clock */
  clock?: Clock | undefined;
  /** Where the jitter of the waits comes from, from 0 to below 1; for tests. @default Math.random */
  random?: (() => number) | undefined;
}

/** The options with every default in its place. */
export interface ClientConfig {
  baseUrl: string;
  /** Null when there is none. */
  readApiKey: (() => string | Promise<string>) | null;
  timeoutMs: number;
  retry: { maxAttempts: number; baseMs: number; maxMs: number; maxWaitMs: number };
  answerLimitBytes: number;
  userAgent: string | null;
  fetch: PlatformFetch;
  clock: Clock;
  random: () => number;
}

const func = z.custom<(...args: never) => unknown>((value) => typeof value === "function", "expected a function");
const milliseconds = z
  .int()
  .min(1)
  .max(2 ** 31 - 1);

const optionsSchema = z.strictObject({
  baseUrl: z.string(),
  // Its own check: the texts of a schema could quote it.
  apiKey: z.unknown().optional(),
  timeoutMs: milliseconds.default(30_000),
  // `prefault`: an absent group is filled from the defaults of its members.
  retry: z
    .strictObject({
      maxAttempts: z.int().min(1).max(100).default(4),
      baseMs: milliseconds.default(1000),
      maxMs: milliseconds.default(30_000),
      maxWaitMs: z
        .int()
        .min(0)
        .max(2 ** 31 - 1)
        .default(60_000),
    })
    .prefault({}),
  answerLimitBytes: z.int().min(1).default(8_388_608),
  userAgent: z
    .string()
    .regex(/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/, "expected one line of ASCII")
    .optional(),
  fetch: func.optional(),
  clock: z
    .custom<Clock>(
      (value) =>
        typeof value === "object" &&
        value !== null &&
        ["now", "elapsed", "setTimeout"].every(
          (name) => typeof (value as Record<string, unknown>)[name] === "function",
        ),
      "expected a clock",
    )
    .optional(),
  random: func.optional(),
});

const KNOWN: KnownOptions = {
  of: "createClient",
  groups: { "": Object.keys(optionsSchema.shape), retry: ["maxAttempts", "baseMs", "maxMs", "maxWaitMs"] },
};

/** @throws SignalboxError `option_unknown`, `option_invalid` */
export function resolveClientOptions(options: ClientOptions): ClientConfig {
  const parsed = optionsSchema.safeParse(options);
  if (!parsed.success) throw optionError(KNOWN, parsed.error);
  const { baseUrl, apiKey, userAgent, fetch, clock, random, ...rest } = parsed.data;
  const address = parseBaseUrl(baseUrl);
  if (!address.ok) throw invalidOption(KNOWN.of, "baseUrl", address.problem);
  return {
    ...rest,
    baseUrl: address.baseUrl,
    readApiKey: keyReader(apiKey),
    userAgent: userAgent ?? null,
    // Looked up late: what instruments fetch may come after us. And never called as a method: a browser's refuses that.
    fetch: (fetch as PlatformFetch | undefined) ?? ((...request) => globalThis.fetch(...request)),
    clock: clock ?? clientClock,
    random: (random as (() => number) | undefined) ?? Math.random,
  };
}

function keyReader(source: unknown): ClientConfig["readApiKey"] {
  if (source === undefined) return null;
  if (typeof source === "function") return source as () => string | Promise<string>;
  const problem = apiKeyProblem(source);
  if (problem !== null) throw invalidOption(KNOWN.of, "apiKey", problem);
  return () => source as string;
}
