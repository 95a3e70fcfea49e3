import type { KnownSignalType } from "../../../events/signal-types.js";
import type { ChangeDirection, SignalDraft } from "../../webhooks/signals/signal-draft.js";
import type { MonthIndex } from "../../time/month.js";

/** What a rule's SQL finds of a product, with what `derive-signals.ts` adds. */
export interface SignalRow {
  tool_id: number;
  before_value: number;
  after_value: number;
  name: string;
  domain: string;
  sector_en: string;
  sector_zh: string;
}

/** The month that a signal is about, and the one before, by name. */
export interface SignalMonths {
  month: MonthIndex;
  now: { en: string; zh: string };
  before: { en: string; zh: string };
}

/** Title, summary and evidence. */
export type Wording = readonly [title: string, summary: string, evidence: string];

/** How signals of one type are found in a month's data, and what is said about them. */
export interface SignalRule {
  signalType: KnownSignalType;
  /**
   * Gives `tool_id`, `before_value`, `after_value` and what the wording needs, for each product at most once. Takes `@month`,
   * `@monthStart` and `@monthEnd` in milliseconds, and the thresholds by name.
   */
  sql: string;
  /** One unit, or those of the values before and after. */
  unit: string | readonly [before: string, after: string];
  /** @default by the values; of ranks the smaller is up */
  direction?: ChangeDirection;
  /** Of a row of this rule's SQL. */
  words(row: SignalRow, months: SignalMonths): { en: Wording; zh: Wording };
}

/** Lets a rule's wording know the further columns of its SQL. */
export function defineRule<Extra extends object = object>(
  rule: Omit<SignalRule, "words"> & {
    words(row: SignalRow & Extra, months: SignalMonths): { en: Wording; zh: Wording };
  },
): SignalRule {
  return { ...rule, words: (row, months) => rule.words(row as SignalRow & Extra, months) };
}

/** `change` as the fixtures have it: see fixtures/README.md. */
export function changeOf(
  { unit, direction }: Pick<SignalRule, "unit" | "direction">,
  before: number,
  after: number,
): SignalDraft["change"] {
  const [unitBefore, unitAfter] = typeof unit === "string" ? [unit, unit] : unit;
  const isComparable = before !== 0 && unitBefore === unitAfter;
  const magnitude = isComparable ? Math.round((Math.abs(after - before) / Math.abs(before)) * 10_000) / 10_000 : 1;
  const isUp = unitBefore === "rank" ? after < before : after > before;
  return {
    direction: direction ?? (isUp ? "up" : "down"),
    magnitude,
    before: { value: before, unit: unitBefore },
    after: { value: after, unit: unitAfter },
  };
}
