import type { Text } from "../market/format-values.js";
import type { SourceKind, StrategyKind } from "../market/signals/signal-table.js";

/** The kinds of promotion. */
export const STRATEGIES: Readonly<Record<StrategyKind, Text>> = {
  product: ["Product news", "产品发布"],
  pricing: ["Plans and prices", "套餐与价格"],
  advertising: ["Advertising", "广告投放"],
  attention: ["Press, directories, links and AI assistants", "报道、导航站、外链与AI助手"],
  website: ["Website and positioning", "网站与定位"],
};

/** Where changes, visits and searches are observed: the host before the domain, and the title. */
export const PLACES: Readonly<Record<SourceKind, readonly [host: string, title: Text]>> = {
  site: ["", ["{name}: official site", "{name}：官方网站"]],
  ads: ["ads-library.example/", ["{name}: ads library", "{name}：广告库记录"]],
  web: ["web-index.example/", ["{name}: other websites", "{name}：其他网站"]],
  traffic: ["traffic-panel.example/", ["{name}: monthly traffic sample", "{name}：月度流量样本"]],
  searches: ["search-sample.example/", ["{name}: search sample", "{name}：搜索关键词样本"]],
};

/** All other texts of a report. `{whole}` is the product, or all ranked products of the category. */
export const TEXTS = {
  title: ["The promotion of {whole}", "{whole}的推广历程"],
  whole_product: ["{name}", "{name}"],
  whole_category: ["the {products} products ranked in {name}", "{name}类榜单上{products}个产品"],
  up: [
    "Visits to {whole} rose {rate}, from {from} in {start} to {to} in {end}.",
    "{whole}的访问量由{start}的{from}次增至{end}的{to}次，增长{rate}。",
  ],
  down: [
    "Visits to {whole} fell {rate}, from {from} in {start} to {to} in {end}.",
    "{whole}的访问量由{start}的{from}次降至{end}的{to}次，下降{rate}。",
  ],
  flat: [
    "Visits to {whole} hardly changed: {from} in {start}, {to} in {end}.",
    "{whole}的访问量基本持平：{start}为{from}次，{end}为{to}次。",
  ],
  coincided: [
    "{grew} of {actions} {actions?change|changes} coincided with a rise in visits.",
    "{actions}项变化中，有{grew}项与访问量上升同月出现。",
  ],
  lead: ['Visits from searches for "{keyword}"', "来自搜索词“{keyword}”的访问"],
  unresolved: ["{title} ({month}): did it affect visits?", "{title}（{month}）：是否影响了访问量？"],
  method: ["Dated public changes are compared with monthly visits.", "将日期明确的公开变化与月度访问量对照。"],
  limits_changes: [
    "Only public changes with a known date are listed, in a category those of its largest products.",
    "仅列出日期明确的公开变化；对于品类，仅限其头部产品。",
  ],
  caveat: ["A rise in the same month does not prove that the change caused it.", "同月出现不等于因果关系。"],
} as const satisfies Record<string, Text>;
