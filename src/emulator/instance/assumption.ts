import type { AllowedValues } from "./allowed-values.js";

/** One entry of `assumptions.ts`, of what a user can switch. */
export interface Assumption<Value> {
  default: Value;
  /** All that it can be. */
  allowed: AllowedValues<Value>;
  /** What the document leaves open. */
  about: string;
  reason: string;
}

export const assume = <Value>(assumption: Assumption<Value>): Assumption<Value> => assumption;
