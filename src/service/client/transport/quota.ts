import type { AnswerHeaders } from "./raw-answer.js";

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
