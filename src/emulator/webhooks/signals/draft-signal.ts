import { LOCALES, type ServiceLocale } from "../../../api/locale.js";
import type { SignalData } from "../../../events/envelope.js";
import type { KnownSignalType } from "../../../events/signal-types.js";
import { monthOf, monthStart } from "../../time/month.js";
import { DEFAULT_OFFER_SIGNALS } from "./default-offer-signals.js";
import { DEFAULT_REACH_SIGNALS } from "./default-reach-signals.js";
import type { DefaultSignal } from "./default-signal.js";
import { DEFAULT_TRAFFIC_SIGNALS } from "./default-traffic-signals.js";
import type { SignalDraft } from "./signal-draft.js";

/** What a signal by hand says other than what it says by default; texts are the same in each language then. */
export interface SignalOverrides {
  title?: string | undefined;
  summary?: string | undefined;
  evidence_summary?: string | undefined;
  change?: SignalData["change"] | undefined;
  period?: { start: string; end: string } | undefined;
  observed_at?: number | undefined;
}

/** What is said of each type when somebody publishes one and leaves it to us. */
export const DEFAULT_SIGNALS: Record<KnownSignalType, DefaultSignal> = {
  ...DEFAULT_TRAFFIC_SIGNALS,
  ...DEFAULT_OFFER_SIGNALS,
  ...DEFAULT_REACH_SIGNALS,
};

const DAY_MS = 86_400_000;

/** A believable signal of a type about a product, observed now. */
export function draftSignal(
  about: { signal_type: KnownSignalType; tool_id: number; name: string },
  now: number,
  overrides: SignalOverrides = {},
): SignalDraft {
  const { signal_type, tool_id, name } = about;
  const said = DEFAULT_SIGNALS[signal_type];
  const observed_at = overrides.observed_at ?? now;
  const change = overrides.change ?? changeOf(said);
  const write = (locale: ServiceLocale): SignalDraft["text"][ServiceLocale] => {
    const [title, summary, evidence] = said.text[locale].map((text) => fill(text, name, change, locale));
    return {
      title: overrides.title ?? title ?? "",
      summary: overrides.summary ?? summary ?? "",
      evidence_summary: overrides.evidence_summary ?? evidence ?? "",
    };
  };
  const text = Object.fromEntries(LOCALES.map((locale) => [locale, write(locale)])) as SignalDraft["text"];
  return { signal_type, tool_id, observed_at, period: overrides.period ?? periodOf(said, observed_at), change, text };
}

function changeOf({ change }: DefaultSignal): SignalData["change"] {
  const { direction, before, after, unit, unitAfter = unit } = change;
  // From nothing to something there is no ratio.
  const ratio = before === 0 || unitAfter !== unit ? 1 : Math.abs(after - before) / before;
  return {
    direction,
    magnitude: Math.round(ratio * 10_000) / 10_000,
    before: { value: before, unit },
    after: { value: after, unit: unitAfter },
  };
}

const date = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10);

function periodOf({ days }: DefaultSignal, observedAt: number): { start: string; end: string } {
  if (days !== "month") return { start: date(observedAt - days * DAY_MS), end: date(observedAt) };
  const month = monthOf(observedAt);
  return { start: date(monthStart(month - 1)), end: date(monthStart(month) - DAY_MS) };
}

function fill(text: string, name: string, { before, after }: SignalData["change"], locale: ServiceLocale): string {
  const shown = { name, before: amount(before, locale), after: amount(after, locale) };
  return text.replaceAll(/\{(name|before|after)\}/g, (_, key: keyof typeof shown) => shown[key]);
}

function amount({ value, unit }: SignalData["change"]["before"], locale: ServiceLocale): string {
  const isShare = unit === "share" || unit === "wording_share";
  return value.toLocaleString(locale, isShare ? { style: "percent", maximumFractionDigits: 1 } : {});
}
