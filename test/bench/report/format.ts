import type { Spread } from "../statistics.js";

/** With digits to match the size: 9,412 and 12.3 and 0.98. */
export function formatNumber(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** `9,412 (9,020–9,633)`: the median, and the range that it stands in. */
export function formatSpread({ median, min, max }: Spread): string {
  if (min === max) return formatNumber(median);
  return `${formatNumber(median)} (${formatNumber(min)}–${formatNumber(max)})`;
}

export function formatMedian(value: Spread | null): string {
  return value === null ? "–" : formatNumber(value.median);
}

/** What the spreads of a table are over. */
export function formatRounds(rounds: number, seconds?: number): string {
  const each = seconds === undefined ? "" : ` of ${seconds} s`;
  return rounds === 1 ? `One round${each}.` : `Median of ${rounds} rounds${each} (least–most).`;
}

const MEBIBYTE = 2 ** 20;

export function formatMebibytes(bytes: number): string {
  return `${(bytes / MEBIBYTE).toFixed(0)} MiB`;
}
