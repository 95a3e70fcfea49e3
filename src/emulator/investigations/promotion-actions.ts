import type { KnownSignalType } from "../../events/signal-types.js";
import type { Database } from "../database/database.js";
import { signalsAbout } from "../market/signals/derive-signals.js";
import type { SignalDraft } from "../market/signals/signal-draft.js";
import { monthOf, type MonthIndex } from "../time/month.js";
import type { SourceKind } from "./report-sources.js";
import type { ReportProduct } from "./report-subject.js";
import type { StrategyKind } from "./report-texts.js";

/** The signal types that are actions of a promotion: what each is summed up as, and where it is seen. */
const ACTIONS = {
  product_launch: ["product", "site"],
  new_feature: ["product", "site"],
  new_model: ["product", "site"],
  api_added: ["product", "site"],
  mcp_added: ["product", "site"],
  price_increased: ["pricing", "site"],
  price_decreased: ["pricing", "site"],
  free_plan_added: ["pricing", "site"],
  free_plan_removed: ["pricing", "site"],
  pricing_model_changed: ["pricing", "site"],
  trial_changed: ["pricing", "site"],
  enterprise_plan_introduced: ["pricing", "site"],
  search_ads_started: ["advertising", "ads"],
  ad_creative_expansion: ["advertising", "ads"],
  media_review_burst: ["attention", "web"],
  ai_directory_push: ["attention", "web"],
  backlink_acquisition_spike: ["attention", "web"],
  new_ai_referral_source: ["attention", "traffic"],
  positioning_shift: ["website", "site"],
  primary_domain_changed: ["website", "site"],
  website_sitemap_expansion: ["website", "site"],
  programmatic_seo_expansion: ["website", "site"],
  new_market_pages: ["website", "site"],
} as const satisfies Partial<Record<KnownSignalType, readonly [StrategyKind, SourceKind]>>;
type ActionType = keyof typeof ACTIONS;

/** What a product did, or what was done about it, in a month: a signal of that month. */
export interface PromotionAction {
  product: ReportProduct;
  month: MonthIndex;
  signal: SignalDraft;
  strategy: StrategyKind;
  seenAt: SourceKind;
}

/** All actions of these products in the observed months, the oldest first. */
export function readPromotionActions(database: Database, products: readonly ReportProduct[]): PromotionAction[] {
  const byId = new Map(products.map((product) => [product.tool_id, product]));
  const signals = signalsAbout(database, [...byId.keys()], Object.keys(ACTIONS) as ActionType[]);
  return signals.flatMap((signal) => {
    const product = byId.get(signal.tool_id);
    const [strategy, seenAt] = ACTIONS[signal.signal_type as ActionType];
    const month = monthOf(Date.parse(signal.period.start));
    return product === undefined ? [] : [{ product, month, signal, strategy, seenAt }];
  });
}
