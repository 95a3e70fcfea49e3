import type { Machine } from "../machine.js";
import { median, type Spread, spread } from "../statistics.js";

/** With digits that suit the size: 9,412 and 12.3 and 0.98. */
export function formatNumber(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en-US", {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}

/** `9,412 (9,020–9,633)`: the median and the range. */
function formatSpread({ median: middle, min, max }: Spread): string {
  if (min === max) return formatNumber(middle);
  return `${formatNumber(middle)} (${formatNumber(min)}–${formatNumber(max)})`;
}

/**
 * A figure of one round. `index` is the round's number, to compare it with the same round of
 * another.
 */
type Figure<Round> = (round: Round, index: number) => number;
/** The cell of a table for the rounds of one row. */
type Cell<Round> = (row: { results: readonly Round[] }) => string;

export function spreadOf<Round>(figure: Figure<Round>): Cell<Round> {
  return ({ results }) => formatSpread(spread(results.map(figure)));
}

/** Each round against the same round of another row; that of a row without rounds is 1. */
export function ratioTo<Round>(figure: Figure<Round>, others: readonly Round[] = []): Cell<Round> {
  return spreadOf((round, index) => figure(round, index) / figure(others[index] ?? round, index));
}

export function medianOf<Round>(figure: Figure<Round>): Cell<Round> {
  return ({ results }) => formatNumber(median(results.map(figure)));
}

/** A dash for a figure that the system or the server does not provide. */
export function formatOptional(value: number | null): string {
  return value === null ? "–" : formatNumber(value);
}

/** What the spreads of a table are over. */
export function formatRounds(rounds: number, seconds?: number): string {
  const each = seconds === undefined ? "" : ` of ${seconds} s`;
  return rounds === 1 ? `One round${each}.` : `Median of ${rounds} rounds${each} (least–most).`;
}

export function formatCount(count: number): string {
  return count.toLocaleString("en-US");
}

export function formatMebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(0)} MiB`;
}

/** The name of a row: ours are bold. */
export function nameOf({ label, isOurs }: { label: string; isOurs: boolean }): string {
  return isOurs ? `**${label}**` : label;
}

/** When and where, in one line. */
export function describeMeasured(at: Date, machine: Machine): string {
  const { cpu, cores, memoryBytes, system, node, syncMs, isInMemory } = machine;
  const memory = `${(memoryBytes / 2 ** 30).toFixed(0)} GiB`;
  const disk = isInMemory
    ? "files in memory, where no sync costs anything"
    : `a 4 KB append and its sync take ${formatNumber(syncMs)} ms`;
  return `Measured ${at.toISOString().slice(0, 10)}: ${cpu}, ${cores} cores, ${memory}, ${system}, Node ${node}; ${disk}.`;
}
