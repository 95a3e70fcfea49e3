import { z } from "zod";
import { isLoopbackHost } from "../../base/addresses/address-kind.js";
import { OptionError, checkOptions } from "../../base/options/option-error.js";
import {
  clockOption,
  functionOption,
  millisecondsOption,
} from "../../base/options/option-schemas.js";
import type { Clock } from "../../base/time/clock.js";
import { LONGEST_DELAY_MS } from "../../base/time/units.js";
import type { PlatformFetch } from "./transport/platform.js";
import type { AnswerHeaders } from "./transport/raw-answer.js";

/** How often a call is retried, and how long the client waits. */
export interface ClientRetryOptions {
  /** The most requests for one call, the first one included; 1 means no retry. @default 4 */
  maxAttempts?: number | undefined;
  /**
   * Upper bound of the first wait, in milliseconds. The bound doubles with each attempt. A wait is
   * at least half of its bound.
   * @default 1000
   */
  baseMs?: number | undefined;
  /** The doubled upper bound is never above this number of milliseconds. @default 30000 */
  maxMs?: number | undefined;
  /**
   * The longest wait that the service can ask for, in milliseconds. If it asks for a longer wait,
   * the call fails immediately.
   * @default 60000
   */
  maxWaitMs?: number | undefined;
}

/** The options of `createClient`. A value of `undefined` means absent. */
export interface ClientOptions {
  /**
   * The base address with the API prefix, such as `https://api.example/v1`. It must be HTTPS,
   * except on loopback.
   */
  baseUrl: string;
  /**
   * The API key, or a function that is called for the key of each request. `productProfile` needs
   * no key. @default none
   */
  apiKey?: ApiKeySource | undefined;
  /**
   * Milliseconds for one request, from the call of `apiKey` to the last byte of the answer.
   * @default 30000
   */
  timeoutMs?: number | undefined;
  retry?: ClientRetryOptions | undefined;
  /**
   * Largest answer, in bytes after decompression. A call with a larger answer fails. @default
   * 8388608 (8 MiB)
   */
  answerLimitBytes?: number | undefined;
  /** The `User-Agent` header. @default the platform's */
  userAgent?: string | undefined;
  /** The function that sends the requests. @default the platform's `fetch` */
  fetch?: PlatformFetch | undefined;
  /** The clock; for tests. @default the system's clock */
  clock?: Clock | undefined;
  /**
   * Returns a number from 0 to below 1 for the jitter of the waits; for tests. @default Math.random
   */
  random?: (() => number) | undefined;
}

/** The options with all defaults. */
export interface ClientConfig {
  baseUrl: string;
  readApiKey: (() => string | Promise<string>) | null;
  timeoutMs: number;
  retry: { maxAttempts: number; baseMs: number; maxMs: number; maxWaitMs: number };
  answerLimitBytes: number;
  userAgent?: string | undefined;
  fetch: PlatformFetch;
  clock: Clock;
  random: () => number;
}

const FACTORY = { name: "createClient", page: "docs/client.md" };

const optionsSchema = z.strictObject({
  baseUrl: z.string(),
  // The key is checked by `apiKeyProblem` and not by zod, because a message of zod could contain
  // the key.
  apiKey: z.unknown().optional(),
  timeoutMs: millisecondsOption.default(30_000),
  // `prefault` fills an absent group from the defaults of its members.
  retry: z
    .strictObject({
      maxAttempts: z.int().min(1).max(100).default(4),
      baseMs: millisecondsOption.default(1000),
      maxMs: millisecondsOption.default(30_000),
      maxWaitMs: z.int().min(0).max(LONGEST_DELAY_MS).default(60_000),
    })
    .prefault({}),
  answerLimitBytes: z.int().min(1).default(8_388_608),
  userAgent: z
    .string()
    .regex(/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/, "expected one line of ASCII")
    .optional(),
  fetch: functionOption<PlatformFetch>().optional(),
  clock: clockOption.optional(),
  random: functionOption<() => number>().optional(),
});

/** @throws SignalboxError `option_unknown`, `option_invalid` */
export function resolveClientOptions(options: ClientOptions): ClientConfig {
  const { baseUrl, apiKey, fetch, clock, random, ...rest } = checkOptions(
    FACTORY,
    optionsSchema,
    options,
  );
  return {
    ...rest,
    baseUrl: parseBaseUrl(baseUrl),
    readApiKey: keyReader(apiKey),
    // Instrumentation may replace `fetch` later, so it is looked up for each request.
    fetch: fetch ?? ((...request) => globalThis.fetch(...request)),
    clock: clock ?? clientClock,
    random: random ?? Math.random,
  };
}

function keyReader(source: unknown): (() => string | Promise<string>) | null {
  if (source === undefined) return null;
  if (typeof source === "function") return source as () => string | Promise<string>;
  const problem = apiKeyProblem(source);
  if (problem !== null) throw new OptionError(FACTORY, "apiKey", problem);
  return () => source as string;
}

/** Returns the base address without a slash at its end. */
function parseBaseUrl(text: string): string {
  if (!URL.canParse(text))
    throw refusedBaseUrl("expected an address such as https://api.example/v1");
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") throw refusedBaseUrl("expected https");
  if (url.username !== "" || url.password !== "")
    throw refusedBaseUrl("expected no name and no password in it");
  if (url.search !== "" || url.hash !== "")
    throw refusedBaseUrl("expected no query and no fragment in it");
  if (url.protocol === "http:" && !isLoopbackHost(url.hostname)) {
    throw refusedBaseUrl(
      "expected https; over http the network could read the API key, so http is only for loopback",
    );
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

function refusedBaseUrl(problem: string): Error {
  return new OptionError(FACTORY, "baseUrl", problem);
}

/**
 * The system's clock on every platform with `fetch`. Unlike the receiver's clock, its timers keep
 * the process alive, because a script that awaits an investigation must not end between two polls.
 */
export const clientClock: Clock = {
  now: Date.now,
  elapsed: () => performance.now(),
  setTimeout(callback, delayMs) {
    // A platform's timer has a longest delay. After a shortened one, `pauseUntil` checks the time
    // and waits again.
    const timer = setTimeout(callback, Math.min(delayMs, LONGEST_DELAY_MS));
    return { cancel: () => clearTimeout(timer) };
  },
};

/**
 * An API key, or a function that returns it. The function is called for each request, so a new key
 * is used from the next request on.
 */
export type ApiKeySource = string | (() => string | Promise<string>);

/**
 * Returns why a value cannot be an API key, or null. A key that a header cannot hold must not reach
 * `fetch`, because the error of `fetch` would contain the key.
 */
export function apiKeyProblem(key: unknown): string | null {
  if (typeof key !== "string") return "expected a text, or a function that returns one";
  if (key.trim() === "") return "it is empty";
  if (/[\r\n]/.test(key)) return "it has a line break, perhaps at its end";
  return /^[\x21-\x7e]+$/.test(key)
    ? null
    : "it has a space, or a character that a header cannot hold";
}

/**
 * Replaces the key in a text. Keys of less than 8 characters are not replaced, because they may be
 * part of a word.
 */
export function withoutKey(text: string, key: string | null): string {
  return key === null || key.length < 8 ? text : text.replaceAll(key, "[API key]");
}

/**
 * The request's id in the answer, for an error. The key is removed from the id, because a proxy may
 * have put it there.
 */
export function requestIdOf(headers: AnswerHeaders, key: string | null): string | undefined {
  const id = headers.get("x-request-id");
  return id === null ? undefined : withoutKey(id, key);
}
