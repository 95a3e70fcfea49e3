import type { PlatformAbortSignal } from "./platform.js";

/** The part of `Headers` that the client reads. */
export interface AnswerHeaders {
  get(name: string): string | null;
}

/** An answer that was not checked yet. */
export interface RawAnswer {
  status: number;
  headers: AnswerHeaders;
  /** Null when the body was larger than the limit or incomplete. */
  body: Uint8Array | null;
}

/** The part of `Response` that holds the body. */
interface AnswerBodySource {
  body?: {
    getReader(): {
      read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
      cancel(): Promise<unknown>;
    };
  } | null;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/**
 * Reads the decompressed bytes of an answer. Returns null and stops reading when there are more
 * bytes than the limit, because a small compressed body can hold gigabytes.
 */
export async function readAnswerBody(
  response: AnswerBodySource,
  limitBytes: number,
  signal: PlatformAbortSignal,
): Promise<Uint8Array | null> {
  // Some implementations of fetch have no streams.
  if (response.body === null || response.body === undefined) {
    const bytes = new Uint8Array(await response.arrayBuffer());
    return bytes.byteLength > limitBytes ? null : bytes;
  }
  const reader = response.body.getReader();
  const stop = (): void => void reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", stop);
  try {
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    let length = 0;
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      if (chunk.value === undefined) continue;
      length += chunk.value.byteLength;
      if (length > limitBytes) {
        stop();
        return null;
      }
      chunks.push(chunk.value as Uint8Array<ArrayBuffer>);
    }
    return new Uint8Array(await new Blob(chunks).arrayBuffer());
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** The monthly quota of a Developer Access account (service document, Errors). */
export interface Quota {
  /** The counted calls that are allowed in a month. */
  limit: number | null;
  /** The counted calls that are left. */
  remaining: number | null;
  /** `<limit>;month` */
  policy: string | null;
  /** When the quota is full again. */
  resetAt: Date | null;
}

/** Returns null when the answer has no quota headers. Only Developer Access gets them. */
export function readQuota(headers: AnswerHeaders): Quota | null {
  const quota: Quota = {
    limit: wholeNumber(headers.get("x-quota-limit")),
    remaining: wholeNumber(headers.get("x-quota-remaining")),
    policy: headers.get("x-quota-policy")?.slice(0, 100) ?? null,
    resetAt: dateOf(headers.get("x-quota-reset")),
  };
  return Object.values(quota).every((value) => value === null) ? null : quota;
}

function wholeNumber(text: string | null): number | null {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

function dateOf(text: string | null): Date | null {
  const time = text === null ? NaN : Date.parse(text);
  return Number.isNaN(time) ? null : new Date(time);
}

/**
 * Reads a `Retry-After` header, which holds seconds or an HTTP date. Returns the wait in
 * milliseconds: 0 for a date in the past, null when the header is missing or invalid.
 *
 * @param sentMs when the answer was sent, by the sender's clock: milliseconds since 1970
 */
export function readRetryAfter(header: string | null, sentMs: number): number | null {
  const text = header?.trim() ?? "";
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1000;
  const time = readHttpDate(text);
  return time === null ? null : Math.max(0, time - sentMs);
}

/** Converts an HTTP date to milliseconds since 1970; null for any other text. */
export function readHttpDate(text: string): number | null {
  // `Date.parse` would read "-5" as a year, and "1.5" as the fifth of January.
  const time = /^[A-Z][a-z]{2,8}, \d\d[ -].* GMT$/.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(time) ? null : time;
}
