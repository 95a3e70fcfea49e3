import type { Machine } from "../machine.js";
import type { Spread } from "../statistics.js";

/** A result with when and where it was measured: the parts of a kept result may come from different runs. */
export type Measured<Result> = Result & { at: string; machine: Machine };

/** With digits that suit the size: 9,412 and 12.3 and 0.98. */
export function formatNumber(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** `9,412 (9,020–9,633)`: the median and the range. */
export function formatSpread({ median, min, max }: Spread): string {
  if (min === max) return formatNumber(median);
  return `${formatNumber(median)} (${formatNumber(min)}–${formatNumber(max)})`;
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

export function formatMebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(0)} MiB`;
}

/** When and where, in one line. */
export function describeMeasured({ at, machine }: Measured<object>): string {
  const { cpu, cores, memoryBytes, system, node, syncMs, isInMemory } = machine;
  const memory = `${(memoryBytes / 2 ** 30).toFixed(0)} GiB`;
  const disk = isInMemory
    ? "files in memory, where no sync costs anything"
    : `a 4 KB append and its sync take ${formatNumber(syncMs)} ms`;
  return `Measured ${at.slice(0, 10)}: ${cpu}, ${cores} cores, ${memory}, ${system}, Node ${node}; ${disk}.`;
}
