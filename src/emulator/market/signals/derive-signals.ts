import type { Database } from "../../database/database.js";
import type { Assumptions } from "../../instance/assumptions.js";
import { formatMonth, monthStart, type MonthIndex } from "../../time/month.js";
import type { SignalDraft } from "../../webhooks/signals/signal-draft.js";
import { AI_RULES } from "./ai-rules.js";
import { monthNames, spacedChinese } from "./format-values.js";
import { KEYWORD_RULES } from "./keyword-rules.js";
import { OFFER_RULES } from "./offer-rules.js";
import { PRESENCE_RULES } from "./presence-rules.js";
import { PRODUCT_RULES } from "./product-rules.js";
import { changeOf, type SignalRow, type SignalRule } from "./signal-rule.js";
import type { SIGNAL_THRESHOLDS } from "./signal-thresholds.js";
import { TRAFFIC_RULES } from "./traffic-rules.js";

/** One for each of the document's 38 signal types. */
export const SIGNAL_RULES: readonly SignalRule[] = [
  ...TRAFFIC_RULES,
  ...AI_RULES,
  ...OFFER_RULES,
  ...PRESENCE_RULES,
  ...PRODUCT_RULES,
  ...KEYWORD_RULES,
];

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * The signals of a month, out of its data and that of the months before (service document, Signal types). A product has at
 * most one of each type. Empty for a month that was not observed.
 *
 * @param thresholds what the document leaves open: when a rise is notable, a change material
 */
export function deriveSignals(
  database: Database,
  month: MonthIndex,
  thresholds: Pick<Assumptions, keyof typeof SIGNAL_THRESHOLDS>,
): SignalDraft[] {
  const observedAt = database
    .prepare<[number], { captured_at: number }>("SELECT captured_at FROM observed_month WHERE month = ?")
    .get(month)?.captured_at;
  if (observedAt === undefined) return [];
  const values = { ...thresholds, month, monthStart: monthStart(month), monthEnd: monthStart(month + 1) };
  const months = { month, now: monthNames(month), before: monthNames(month - 1) };
  const end = new Date(values.monthEnd - DAY_MS).toISOString().slice(0, "2026-11-30".length);
  return SIGNAL_RULES.flatMap((rule) =>
    database
      .prepare<[typeof values], SignalRow>(
        `SELECT found.*, p.name, p.domain, s.name_en AS sector_en, s.name_zh AS sector_zh FROM (${rule.sql}) found
         JOIN product p ON p.tool_id = found.tool_id JOIN sector s ON s.sector_id = p.sector_id ORDER BY found.tool_id`,
      )
      .all(values)
      .map((row): SignalDraft => {
        const { en, zh } = rule.words(row, months);
        return {
          signal_type: rule.signalType,
          tool_id: row.tool_id,
          observed_at: observedAt,
          period: { start: `${formatMonth(month)}-01`, end },
          change: changeOf(rule, row.before_value, row.after_value),
          text: { en: textOf(en), "zh-CN": textOf(zh.map(spacedChinese)) },
        };
      }),
  );
}

function textOf([title = "", summary = "", evidence = ""]: readonly string[]): SignalDraft["text"]["en"] {
  return { title, summary, evidence_summary: evidence };
}
