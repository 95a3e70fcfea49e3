/** The service's time as the control API tells it. */
export interface TimeTold {
  /** A date-time. */
  now: string;
}

/** @param nowMs milliseconds since 1970 */
export const timeTold = (nowMs: number): TimeTold => ({ now: new Date(nowMs).toISOString() });
