import type { ServiceLocale } from "../../../api/locale.js";
import type { SignalData } from "../../../events/envelope.js";
import type { KnownSignalType } from "../../../events/signal-types.js";

/** A signal that is to be published, in both languages. Publishing gives it its ids and times. */
export interface SignalDraft {
  signal_type: KnownSignalType;
  tool_id: number;
  /** Milliseconds since 1970. */
  observed_at: number;
  /** Both `YYYY-MM-DD`. */
  period: { start: string; end: string };
  change: SignalData["change"];
  text: Record<ServiceLocale, { title: string; summary: string; evidence_summary: string }>;
}
