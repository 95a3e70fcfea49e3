import type { ServiceLocale } from "../../../api/locale.js";
import type { SignalData } from "../../../events/envelope.js";
import { SIGNAL_TYPES, type KnownSignalType } from "../../../events/signal-types.js";
import type { Database } from "../../database/database.js";
import { formatMonth, monthOf, monthStart, type MonthIndex } from "../../time/month.js";
import type { TextValues } from "../format-values.js";
import type { SignalDraft } from "./signal-draft.js";
import { SIGNALS, type SignalRow, type SignalTexts } from "./signal-table.js";
import { fillTexts } from "./signal-texts.js";

/** What a caller who publishes by hand may set; the texts are then the same in both languages. */
export interface SignalOverrides {
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

/** The figures of a type for all products, with what its texts say of a product. */
const figuresSql = ({ figures, when }: SignalRow): string =>
  `SELECT f.*, p.name, p.domain, s.name_en AS sector_en, s.name_zh AS sector_zh, (${when}) AS is_signal FROM (${figures}) f
   JOIN product p ON p.tool_id = f.tool_id JOIN sector s ON s.sector_id = p.sector_id`;

/**
 * The signals that a month's data gives (service document, Signal types), in the document's order of types. A product has at
 * most one of each type. A month that was not observed has none.
 */
export function deriveSignals(database: Database, month: MonthIndex): SignalDraft[] {
  const observed = database
    .prepare<[number], ObservedMonth>("SELECT month, captured_at FROM observed_month WHERE month = ?")
    .get(month);
  if (observed === undefined) return [];
  return SIGNAL_TYPES.flatMap((type) => prepareSignals(database, type)(observed));
}

/** The signals of these types about these products, in all observed months but the first; the oldest first. */
export function signalsAbout(
  database: Database,
  toolIds: readonly number[],
  types: readonly KnownSignalType[],
): SignalDraft[] {
  const months = database
    .prepare<[], ObservedMonth>("SELECT month, captured_at FROM observed_month ORDER BY month LIMIT -1 OFFSET 1")
    .all();
  // Read by the product's id, a signal takes 0.02 ms; those of all products take 3 ms.
  const readers = types.map((type) => prepareSignals(database, type, "AND f.tool_id = @toolId"));
  return months.flatMap((month) => toolIds.flatMap((toolId) => readers.flatMap((read) => read(month, toolId))));
}

function prepareSignals(database: Database, signal_type: KnownSignalType, condition = "") {
  const row = SIGNALS[signal_type];
  const statement = database.prepare<[object], Found>(
    `${figuresSql(row)} WHERE (${row.when}) ${condition} ORDER BY f.tool_id`,
  );
  return (observed: ObservedMonth, toolId?: number): SignalDraft[] =>
    statement.all({ ...momentOf(observed.month), toolId }).map((found) => {
      const change = changeOf(row, found);
      const text = fillTexts(row, change, observed.month, found);
      return { signal_type, tool_id: found.tool_id, ...timesOf(observed), change, text };
    });
}

/** The texts of a signal that is published by hand and that the data does not show. They are true of any figures. */
const BY_HAND: SignalTexts = {
  evidence: {
    en: "None: the data of {month} shows no such signal, or the figures were set by hand.",
    zh: "无：{month}的数据中没有这一信号，或数值为手动设定。",
  },
  en: ["{name}: {type}", "Published by hand. The figure of {name} ({unit}) was {before} before and is {after} now."],
  zh: ["{name}：手动发布的信号（{type}）", "手动发布。{name}的数值（{unit}）此前为{before}，现为{after}。"],
};

/**
 * A signal of one type about one product, published by hand. Its figures are those of the month that was observed last. Where
 * that month has the signal, it is the same one.
 */
export function draftSignal(
  database: Database,
  { signal_type, tool_id, name }: Pick<SignalDraft, "signal_type" | "tool_id"> & { name: string },
  publishedAt: number,
  overrides: SignalOverrides = {},
): SignalDraft {
  const observed = lastObserved(database, publishedAt);
  const row = SIGNALS[signal_type];
  const found = database
    .prepare<[object], Found>(`${figuresSql(row)} WHERE f.tool_id = @toolId`)
    .get({ ...momentOf(observed.month), toolId: tool_id });
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

/** The month that had been observed last at a time. Before any was, the month before that time. */
function lastObserved(database: Database, atMs: number): ObservedMonth {
  const row = database
    .prepare<[number], ObservedMonth>(
      "SELECT month, captured_at FROM observed_month WHERE captured_at <= ? ORDER BY month DESC LIMIT 1",
    )
    .get(atMs);
  return row ?? { month: monthOf(atMs) - 1, captured_at: atMs };
}

const momentOf = (month: MonthIndex): object => ({ month, monthStart: monthStart(month) });

function timesOf({ month, captured_at }: ObservedMonth): Pick<SignalDraft, "observed_at" | "period"> {
  const lastDay = new Date(monthStart(month + 1) - DAY_MS).toISOString().slice(0, "2026-11-30".length);
  return { observed_at: captured_at, period: { start: `${formatMonth(month)}-01`, end: lastDay } };
}

/** `change` as the fixtures have it: see fixtures/README.md. */
function changeOf(
  { unit, direction }: SignalRow,
  { before_value, after_value }: Pick<Found, "before_value" | "after_value">,
): SignalDraft["change"] {
  const [before, after] = [before_value ?? 0, after_value ?? 0];
  const [unitBefore, unitAfter] = typeof unit === "string" ? [unit, unit] : unit;
  const isComparable = before !== 0 && unitBefore === unitAfter;
  const magnitude = isComparable ? Math.round((Math.abs(after - before) / Math.abs(before)) * 10_000) / 10_000 : 1;
  const isUp = unit === "rank" ? after < before : after > before;
  return {
    direction: direction ?? (after === before ? "changed" : isUp ? "up" : "down"),
    magnitude,
    before: { value: before, unit: unitBefore },
    after: { value: after, unit: unitAfter },
  };
}
