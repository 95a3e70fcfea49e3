/** The monthly quota of a Developer Access account, as the service last told it (service document, Errors). */
export interface Quota {
  /** Counted calls in a month. */
  limit: number | null;
  /** How many of them are left. */
  remaining: number | null;
  /** `<limit>;month` */
  policy: string | null;
  /** When it begins anew. */
  resetAt: Date | null;
}

/** As much of `Headers` as is read here. */
export interface AnswerHeaders {
  get(name: string): string | null;
}

/** Null when the answer tells nothing of a quota: other accounts than Developer Access get no such headers. */
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
