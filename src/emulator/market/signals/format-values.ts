import type { MonthIndex } from "../../time/month.js";

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

/** `142%` more, `5.2 times`: what fits the size of a growth. */
export function times(before: number, after: number): { en: string; zh: string } {
  if (before > 0 && after / before >= 3) {
    const factor = Math.round((after / before) * 10) / 10;
    return { en: `${factor} times as many`, zh: `增至${factor}倍` };
  }
  const more = before > 0 ? percent(Math.abs(after - before) / before) : "100%";
  return { en: `${more} ${after >= before ? "more" : "fewer"}`, zh: `${after >= before ? "增加" : "减少"}${more}` };
}

/**
 * Chinese with a blank where it meets Latin letters, and between those and the number of a month: `Larkvoice 10月的 API`.
 * What is quoted stays as it is.
 */
export function spacedChinese(text: string): string {
  const seams = /“[^”]*”|(?<=\p{Script=Han})(?=[A-Za-z])|(?<=[A-Za-z])(?=\p{Script=Han}|\d+月)/gu;
  return text.replaceAll(seams, (found) => (found === "" ? " " : found));
}
