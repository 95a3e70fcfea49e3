import { count, dollars, fillText, monthNames, percent, type TextValues } from "../format-values.js";
import type { MonthIndex } from "../../time/month.js";
import type { SignalDraft } from "./signal-draft.js";
import type { SignalTexts } from "./signal-table.js";

/**
 * Fills the placeholders of a signal's texts:
 *
 * - a column of the figures by its name, such as `{name}` or `{sector}`;
 * - `{before}` and `{after}`, `{added}` (the difference, without its sign) and `{rate}` (the difference relative to the value before);
 * - `{month}` and `{lastMonth}`, the names of the signal's month and the one before;
 * - `{rose|fell}`: the first where the value rose, the second where it did not.
 */
export function fillTexts(
  texts: SignalTexts,
  change: SignalDraft["change"],
  month: MonthIndex,
  figures: TextValues,
): SignalDraft["text"] {
  const { before, after } = change;
  const difference = Math.abs(after.value - before.value);
  const [now, last] = [monthNames(month), monthNames(month - 1)];
  const fill = (language: "en" | "zh"): SignalDraft["text"]["en"] => {
    const values = {
      ...figures,
      before: amount(before),
      after: amount(after),
      added: amount({ value: difference, unit: after.unit }),
      rate: percent(difference / before.value),
      month: now[language],
      lastMonth: last[language],
    };
    const choose = (text: string): string =>
      text.replaceAll(/\{([^{}|?]+)\|([^{}]+)\}/g, after.value > before.value ? "$1" : "$2");
    const [title, summary] = texts[language];
    return {
      title: fillText(language, choose(title), values),
      summary: fillText(language, choose(summary), values),
      evidence_summary: fillText(language, texts.evidence[language], values),
    };
  };
  return { en: fill("en"), "zh-CN": fill("zh") };
}

/** A value as a text shows it. */
function amount({ value, unit }: SignalDraft["change"]["before"]): string {
  if (unit.endsWith("share")) return percent(value);
  if (unit.startsWith("usd_")) return dollars(value);
  return Number.isInteger(value) ? count(value) : String(value);
}
