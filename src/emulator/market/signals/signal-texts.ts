import { count, dollars, monthNames, percent, spacedChinese } from "../format-values.js";
import type { MonthIndex } from "../../time/month.js";
import type { SignalDraft } from "./signal-draft.js";
import type { SignalTexts } from "./signal-table.js";

/** The columns of a signal's figures. A column `item_zh` beside `item_en` is the placeholder `{item}` of either language. */
export type Figures = Readonly<Record<string, string | number | null>>;

/**
 * Fills the placeholders of a signal's texts:
 *
 * - a column of the figures by its name, such as `{name}` or `{sector}`;
 * - `{before}` and `{after}`, `{added}` (the difference, without its sign) and `{rate}` (the difference relative to the value before);
 * - `{month}` and `{lastMonth}`, the names of the signal's month and the one before;
 * - `{rose|fell}`: the first where the value rose, the second where it did not.
 *
 * @throws RangeError a placeholder that the figures lack
 */
export function fillTexts(
  texts: { en: SignalTexts; zh: SignalTexts },
  change: SignalDraft["change"],
  month: MonthIndex,
  figures: Figures,
): SignalDraft["text"] {
  const { before, after } = change;
  const difference = Math.abs(after.value - before.value);
  const [now, last] = [monthNames(month), monthNames(month - 1)];
  const fill = (language: "en" | "zh", text: string): string => {
    const values: Figures = {
      ...figures,
      before: amount(before),
      after: amount(after),
      added: amount({ value: difference, unit: after.unit }),
      rate: percent(difference / before.value),
      month: now[language],
      lastMonth: last[language],
    };
    return text.replaceAll(/\{([^{}|]+)(?:\|([^{}]+))?\}/g, (_, first: string, second?: string) => {
      if (second !== undefined) return after.value > before.value ? first : second;
      const value = values[`${first}_${language}`] ?? values[first];
      if (value == null) throw new RangeError(`A signal's text has {${first}}, which its figures lack.`);
      return typeof value === "number" ? count(value) : value;
    });
  };
  const [title, summary, evidence_summary] = texts.en.map((text) => fill("en", text));
  const chinese = texts.zh.map((text) => spacedChinese(fill("zh", text)));
  return { en: textOf([title, summary, evidence_summary]), "zh-CN": textOf(chinese) };
}

function textOf([title = "", summary = "", evidence_summary = ""]: readonly (string | undefined)[]) {
  return { title, summary, evidence_summary };
}

/** A value as a text shows it. */
function amount({ value, unit }: SignalDraft["change"]["before"]): string {
  if (unit.endsWith("share")) return percent(value);
  if (unit.startsWith("usd_")) return dollars(value);
  return Number.isInteger(value) ? count(value) : String(value);
}
