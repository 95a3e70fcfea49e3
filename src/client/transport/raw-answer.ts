import type { AnswerHeaders } from "./quota.js";

/** An answer as it came. */
export interface RawAnswer {
  status: number;
  headers: AnswerHeaders;
  /** Null when it was over the limit, or broke off. */
  body: Uint8Array | null;
}
