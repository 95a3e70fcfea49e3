import type { ServiceLocale } from "../../../api/locale.js";
import type { ChangeDirection } from "./signal-draft.js";

/** What a signal says when somebody publishes one by hand and leaves it to us. */
export interface DefaultSignal {
  change: {
    direction: ChangeDirection;
    before: number;
    after: number;
    unit: string;
    /** Where it is another than that of `before`. */
    unitAfter?: string;
  };
  /** How many days its period has; the month before when it is observed in monthly samples. */
  days: number | "month";
  /** With `{name}`, `{before}` and `{after}` in them. */
  text: Record<ServiceLocale, readonly [title: string, summary: string, evidence: string]>;
}
