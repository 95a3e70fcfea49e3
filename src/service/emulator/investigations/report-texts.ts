import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Text } from "../market/format-values.js";
import type { SourceKind, StrategyKind } from "../market/signals/signal-table.js";

/** The texts of a report, in both languages. */
interface ReportTexts {
  /** The kinds of promotion. */
  strategies: Readonly<Record<StrategyKind, Text>>;
  /** Where changes, visits and searches are observed: the host before the domain, and the title. */
  places: Readonly<Record<SourceKind, readonly [host: string, title: Text]>>;
  /** All others. `{whole}` is the product, or all ranked products of the category. */
  texts: Readonly<Record<TextName, Text>>;
}

type Whole = "whole_product" | "whole_category";
type Course = "up" | "down" | "flat";
type TextName =
  | "title"
  | Whole
  | Course
  | "coincided"
  | "lead"
  | "unresolved"
  | "method"
  | "limits_changes"
  | "caveat";

/** From `src` and from `dist` the path is the same. */
const FILE = join(import.meta.dirname, "../../../../fixtures/market/report.json");

export const {
  strategies: STRATEGIES,
  places: PLACES,
  texts: TEXTS,
} = JSON.parse(readFileSync(FILE, "utf8")) as ReportTexts;
