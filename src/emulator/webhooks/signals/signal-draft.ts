import type { ServiceLocale } from "../../../api/locale.js";
import type { SignalData } from "../../../events/envelope.js";
import type { KnownSignalType } from "../../../events/signal-types.js";

/** The directions of what the emulator makes; who publishes a signal by hand may say another. */
export const CHANGE_DIRECTIONS = ["up", "down", "changed"] as const;
export type ChangeDirection = (typeof CHANGE_DIRECTIONS)[number];

/** A signal that is to be published, in all languages; ids and times of publishing are given to it then. */
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
