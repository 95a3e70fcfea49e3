import { SIGNAL_TYPES } from "../../events/signal-types.js";
import type { Database } from "../database/database.js";
import { signalsAbout } from "../market/signals/derive-signals.js";
import type { SignalDraft } from "../market/signals/due-signals.js";
import { SIGNALS, type SourceKind, type StrategyKind } from "../market/signals/signal-table.js";
import { monthOf, type MonthIndex } from "../time/month.js";
import type { ReportProduct } from "./report-subject.js";

/** A signal that is an action of a product's promotion, by its maker or by others. */
export interface PromotionAction {
  product: ReportProduct;
  month: MonthIndex;
  signal: SignalDraft;
  strategy: StrategyKind;
  source: SourceKind;
}

/** Reads all actions of these products in the observed months, the oldest first. */
export function readPromotionActions(database: Database, products: readonly ReportProduct[]): PromotionAction[] {
  const byId = new Map(products.map((product) => [product.tool_id, product]));
  const types = SIGNAL_TYPES.filter((type) => SIGNALS[type].strategy !== null);
  return signalsAbout(database, [...byId.keys()], types).flatMap((signal) => {
    const product = byId.get(signal.tool_id);
    const { strategy, source } = SIGNALS[signal.signal_type];
    const month = monthOf(Date.parse(signal.period.start));
    return product === undefined || strategy === null ? [] : [{ product, month, signal, strategy, source }];
  });
}
