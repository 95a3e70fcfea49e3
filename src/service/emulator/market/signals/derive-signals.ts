import type { SignalData } from "../../../../kit/senders/signals/envelope.js";
import {
  SIGNAL_TYPES,
  type KnownSignalType,
} from "../../../../kit/senders/signals/signal-types.js";
import type { ServiceLocale } from "../../../contract/shared-schemas.js";
import type { Database } from "../../database/database.js";
import { formatMonth, monthOf, monthStart, type MonthIndex } from "../../time/emulator-clock.js";
import {
  count,
  dollars,
  fillText,
  monthNames,
  percent,
  type TextValues,
} from "../format-values.js";
import { SIGNALS, type SignalRow, type SignalTexts } from "./signal-table.js";

/** A signal before it is published, in both languages. Publishing gives it its ids and times. */
export interface SignalDraft {
  signal_type: KnownSignalType;
  tool_id: number;
  /** Milliseconds since 1970. */
  observed_at: number;
  /** The first and the last day, `YYYY-MM-DD`. */
  period: { start: string; end: string };
  change: SignalData["change"];
  text: Record<ServiceLocale, { title: string; summary: string; evidence_summary: string }>;
}

/**
 * The fields that a caller can set when publishing by hand. A text is then the same in both
 * languages.
 */
interface SignalOverrides {
  title?: string | undefined;
  summary?: string | undefined;
  evidence_summary?: string | undefined;
  change?: SignalData["change"] | undefined;
  period?: SignalDraft["period"] | undefined;
  observed_at?: number | undefined;
}

interface ObservedMonth {
  month: MonthIndex;
  captured_at: number;
}

type Found = TextValues & {
  tool_id: number;
  before_value: number | null;
  after_value: number | null;
  is_signal: number | null;
};

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Reads the figures of a type for all products, with the columns of `product` and `sector` that
 * texts use.
 */
const figuresSql = ({ figures, when = "1" }: SignalRow): string =>
  `SELECT f.*, p.name, p.domain, s.name_en AS sector_en, s.name_zh AS sector_zh, (${when}) AS is_signal FROM (${figures}) f
   JOIN product p ON p.tool_id = f.tool_id JOIN sector s ON s.sector_id = p.sector_id`;

/**
 * Finds the signals in a month's data (service document, Signal types), in the document's order of
 * types. A product has at most one signal of each type. A month that was not observed has no
 * signals.
 */
export function deriveSignals(database: Database, month: MonthIndex): SignalDraft[] {
  const observed = database.row<ObservedMonth>(
    "SELECT month, captured_at FROM observed_month WHERE month = ?",
    month,
  );
  if (observed === undefined) return [];
  return SIGNAL_TYPES.flatMap((type) => prepareSignals(database, type)(observed));
}

/**
 * Finds the signals of these types about these products in all observed months except the first.
 * The oldest come first.
 */
export function signalsAbout(
  database: Database,
  toolIds: readonly number[],
  types: readonly KnownSignalType[],
): SignalDraft[] {
  const months = database.rows<ObservedMonth>(
    "SELECT month, captured_at FROM observed_month ORDER BY month LIMIT -1 OFFSET 1",
  );
  // One query for each product: a query by the product's id takes 0.02 ms, a query for all products
  // 3 ms.
  const readers = types.map((type) => prepareSignals(database, type, "AND f.tool_id = @toolId"));
  return months.flatMap((month) =>
    toolIds.flatMap((toolId) => readers.flatMap((read) => read(month, toolId))),
  );
}

function prepareSignals(database: Database, signal_type: KnownSignalType, condition = "") {
  const row = SIGNALS[signal_type];
  const sql = `${figuresSql(row)} WHERE is_signal ${condition} ORDER BY f.tool_id`;
  return (observed: ObservedMonth, toolId?: number): SignalDraft[] =>
    database.rows<Found>(sql, { ...momentOf(observed.month), toolId }).map((found) => {
      const change = changeOf(row, found);
      const text = fillTexts(row, change, observed.month, found);
      return { signal_type, tool_id: found.tool_id, ...timesOf(observed), change, text };
    });
}

/**
 * The texts of a signal that is published by hand and that is not in the data. They are true for
 * any values.
 */
const BY_HAND: SignalTexts = {
  title: ["{name}: {type}", "{name}：手动发布的信号（{type}）"],
  summary: [
    "Published by hand. {name} went from {before} to {after} ({unit}).",
    "手动发布。{name}由{before}变为{after}（{unit}）。",
  ],
  evidence: [
    "None: the data of {month} has no such signal, or the values were set by hand.",
    "无：{month}的数据中没有这一信号，或数值为手动设定。",
  ],
};

/**
 * Makes a signal of one type about one product, to be published by hand, with the figures of the
 * last observed month. If the data of that month have this signal, the result is the same signal,
 * with the overrides.
 */
export function draftSignal(
  database: Database,
  { signal_type, tool_id, name }: Pick<SignalDraft, "signal_type" | "tool_id"> & { name: string },
  publishedAt: number,
  overrides: SignalOverrides = {},
): SignalDraft {
  const observed = lastObserved(database, publishedAt);
  const row = SIGNALS[signal_type];
  const found = database.row<Found>(`${figuresSql(row)} WHERE f.tool_id = @toolId`, {
    ...momentOf(observed.month),
    toolId: tool_id,
  });
  const change = overrides.change ?? changeOf(row, found ?? { before_value: 0, after_value: 0 });
  const isSignal = found?.is_signal === 1 && overrides.change === undefined;
  const text = isSignal
    ? fillTexts(row, change, observed.month, found)
    : fillTexts(BY_HAND, change, observed.month, {
        name,
        type: signal_type.replaceAll("_", " "),
        unit: change.after.unit.replaceAll("_", " "),
      });
  const { observed_at, period } = timesOf(observed);
  const { title, summary, evidence_summary } = overrides;
  const overridden = (texts: SignalDraft["text"][ServiceLocale]) => ({
    title: title ?? texts.title,
    summary: summary ?? texts.summary,
    evidence_summary: evidence_summary ?? texts.evidence_summary,
  });
  return {
    signal_type,
    tool_id,
    observed_at: overrides.observed_at ?? observed_at,
    period: overrides.period ?? period,
    change,
    text: { en: overridden(text.en), "zh-CN": overridden(text["zh-CN"]) },
  };
}

/**
 * The last month that was observed at a time; before the first observation, the month before that
 * time.
 */
function lastObserved(database: Database, atMs: number): ObservedMonth {
  const row = database.row<ObservedMonth>(
    "SELECT month, captured_at FROM observed_month WHERE captured_at <= ? ORDER BY month DESC LIMIT 1",
    atMs,
  );
  return row ?? { month: monthOf(atMs) - 1, captured_at: atMs };
}

const momentOf = (month: MonthIndex): object => ({ month, monthStart: monthStart(month) });

function timesOf({
  month,
  captured_at,
}: ObservedMonth): Pick<SignalDraft, "observed_at" | "period"> {
  const lastDay = new Date(monthStart(month + 1) - DAY_MS)
    .toISOString()
    .slice(0, "2026-11-30".length);
  return { observed_at: captured_at, period: { start: `${formatMonth(month)}-01`, end: lastDay } };
}

/** Makes `change` by the rules of fixtures/README.md. */
function changeOf(
  { unit, direction }: SignalRow,
  { before_value, after_value }: Pick<Found, "before_value" | "after_value">,
): SignalDraft["change"] {
  const [before, after] = [before_value ?? 0, after_value ?? 0];
  const [unitBefore, unitAfter] = typeof unit === "string" ? [unit, unit] : unit;
  const isComparable = before !== 0 && unitBefore === unitAfter;
  const magnitude = isComparable
    ? Math.round((Math.abs(after - before) / Math.abs(before)) * 10_000) / 10_000
    : 1;
  const isUp = unit === "rank" ? after < before : after > before;
  return {
    direction: direction ?? (after === before ? "changed" : isUp ? "up" : "down"),
    magnitude,
    before: { value: before, unit: unitBefore },
    after: { value: after, unit: unitAfter },
  };
}

/**
 * Fills the placeholders of a signal's texts:
 *
 * - `{name}`, `{sector}` and other columns of the figures;
 * - `{before}` and `{after}`, `{added}` (the difference, without its sign), `{rate}` (the
 *   difference relative to the value before) and `{moved}` ("rose" or "fell");
 * - `{month}` and `{lastMonth}`, the names of the signal's month and the month before.
 */
function fillTexts(
  { title, summary, evidence }: SignalTexts,
  { before, after }: SignalDraft["change"],
  month: MonthIndex,
  figures: TextValues,
): SignalDraft["text"] {
  const difference = Math.abs(after.value - before.value);
  const values = {
    ...figures,
    before: amount(before),
    after: amount(after),
    added: amount({ value: difference, unit: after.unit }),
    moved: after.value < before.value ? { en: "fell", zh: "降至" } : { en: "rose", zh: "增至" },
    rate: percent(difference / before.value),
    month: monthNames(month),
    lastMonth: monthNames(month - 1),
  };
  const fill = (locale: ServiceLocale): SignalDraft["text"]["en"] => ({
    title: fillText(locale, title, values),
    summary: fillText(locale, summary, values),
    evidence_summary: fillText(locale, evidence, values),
  });
  return { en: fill("en"), "zh-CN": fill("zh-CN") };
}

/** Formats a value by its unit. */
function amount({
  value,
  unit,
}: SignalDraft["change"]["before"]): string | { en: string; zh: string } {
  if (unit.endsWith("share")) return percent(value);
  if (unit.startsWith("usd_")) return dollars(value);
  return Number.isInteger(value) ? count(value) : String(value);
}
