import type { MonthIndex } from "../time/month.js";

const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
] as const;

/** `1,016,400`. Not by `Intl`, whose data differs between versions. */
export function count(value: number): string {
  const digits = String(Math.abs(Math.round(value))).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
  return value < 0 ? `-${digits}` : digits;
}

/** `14.8%` for 0.148; no decimals when there is nothing behind the point. */
export function percent(ratio: number): string {
  return `${Math.round(ratio * 1000) / 10}%`;
}

/** `$29`, `$29.50`. */
export function dollars(value: number): string {
  return `$${Number.isInteger(value) ? count(value) : value < 1 ? String(value) : value.toFixed(2)}`;
}

/** The month's name: `October`, `10月`. */
export function monthNames(month: MonthIndex): { en: string; zh: string } {
  const place = ((month % 12) + 12) % 12;
  return { en: MONTHS[place] ?? "", zh: `${place + 1}月` };
}

/** Chinese with a blank where it meets Latin letters: `Larkvoice 10月的 API`. Quoted text stays as it is. */
function spacedChinese(text: string): string {
  const seams = /“[^”]*”|(?<=\p{Script=Han})(?=[A-Za-z])|(?<=[A-Za-z])(?=\p{Script=Han}|\d+月)/gu;
  return text.replaceAll(seams, (found) => (found === "" ? " " : found));
}

/** The values of a text's placeholders. A value `item_zh` beside `item_en` is the placeholder `{item}` of either language. */
export type TextValues = Readonly<Record<string, string | number | null>>;

/**
 * A text with its placeholders filled: `{item}` from `values`, and `{added?page|pages}`, the first where `added` is 1. Numbers
 * get their separators, Chinese gets its blanks.
 *
 * @throws RangeError a placeholder that has no value
 */
export function fillText(language: "en" | "zh", text: string, values: TextValues): string {
  const filled = text.replaceAll(
    /\{(\w+)(?:\?([^{}|]+)\|([^{}]+))?\}/g,
    (_, name: string, one?: string, many?: string) => {
      const value = values[`${name}_${language}`] ?? values[name];
      if (value == null) throw new RangeError(`A text has the placeholder {${name}}, which has no value.`);
      if (one !== undefined && many !== undefined) return value === 1 ? one : many;
      return typeof value === "number" ? count(value) : value;
    },
  );
  return language === "zh" ? spacedChinese(filled) : filled;
}
