import type { ServiceLocale } from "../../contract/shared-schemas.js";
import type { MonthIndex } from "../time/emulator-clock.js";

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

/** `1,016,400`. `Intl` is not used, because its data differs between versions. */
export function count(value: number): string {
  const digits = String(Math.abs(Math.round(value))).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
  return value < 0 ? `-${digits}` : digits;
}

/** `14.8%` for 0.148, `15%` for 0.15, `1,110%` for 11.096. */
export function percent(ratio: number): string {
  return `${Math.round(ratio * 1000) / 10}%`.replace(/\B(?=(?:\d{3})+\b)/, ",");
}

/** `$29`, `$29.50`; `29美元`. */
export function dollars(value: number): { en: string; zh: string } {
  const amount = Number.isInteger(value)
    ? count(value)
    : value < 1
      ? String(value)
      : value.toFixed(2);
  return { en: `$${amount}`, zh: `${amount}美元` };
}

/** The month's name: `October`, `10月`. */
export function monthNames(month: MonthIndex): { en: string; zh: string } {
  const place = ((month % 12) + 12) % 12;
  return { en: MONTHS[place] ?? "", zh: `${place + 1}月` };
}

/** `October 2026`, `2026年10月`. */
export function monthAndYear(month: MonthIndex): { en: string; zh: string } {
  const { en, zh } = monthNames(month);
  const year = Math.floor(month / 12);
  return { en: `${en} ${year}`, zh: `${year}年${zh}` };
}

/**
 * Adds a space between Chinese and Latin words: `Larkvoice 10月的 API`. Numbers get none, and quoted
 * text is not changed.
 */
function spacedChinese(text: string): string {
  const seams =
    /“[^”]*”|(?<=\p{Script=Han})(?=\d*[A-Za-z])|(?<=[A-Za-z])(?=\p{Script=Han}|\d+[年月])/gu;
  return text.replaceAll(seams, (found) => (found === "" ? " " : found));
}

/** A text in both languages, with placeholders. */
export type Text = readonly [en: string, zh: string];

/**
 * The values of a text's placeholders. The values `item_en` and `item_zh` are for `{item}`, as is
 * `item` with both languages.
 */
export type TextValues = Readonly<
  Record<string, string | number | null | Readonly<Record<"en" | "zh", string>>>
>;

/**
 * Fills the placeholders of a text: `{item}` with its value, and `{added?page|pages}` with the
 * first word if `added` is 1, otherwise with the second.
 *
 * @throws RangeError a placeholder has no value
 */
export function fillText(locale: ServiceLocale, [en, zh]: Text, values: TextValues): string {
  const language = locale === "en" ? "en" : "zh";
  const filled = (locale === "en" ? en : zh).replaceAll(
    /\{(\w+)(?:\?([^{}|]+)\|([^{}]+))?\}/g,
    (_, name: string, one?: string, many?: string) => {
      const found = values[`${name}_${language}`] ?? values[name];
      const value = typeof found === "object" ? found?.[language] : found;
      if (value == null)
        throw new RangeError(`A text has the placeholder {${name}}, which has no value.`);
      if (one !== undefined && many !== undefined) return value === 1 ? one : many;
      return typeof value === "number" ? count(value) : value;
    },
  );
  return locale === "en" ? filled : spacedChinese(filled);
}

/**
 * Finds the service's locale for any text: `zh-CN` for `zh`, `zh_CN`, `zh-TW` and similar texts,
 * otherwise `en` (the assumption `localeResolution`).
 */
export function resolveLocale(text: string): ServiceLocale {
  return /^zh(?:$|[-_])/i.test(text.trim()) ? "zh-CN" : "en";
}
