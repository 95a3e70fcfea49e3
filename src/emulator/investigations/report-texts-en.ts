import { count } from "../market/format-values.js";
import type { ActionKind, PromotionAction } from "./promotion-actions.js";
import type { ReportTexts } from "./report-texts.js";
import type { Channel } from "./traffic-series.js";

const counted = (value: number, one: string, many: string): string => `${count(value)} ${value === 1 ? one : many}`;

/** What came to what there was before. */
const added = ({ before, after }: PromotionAction): number => (after ?? 0) - (before ?? 0);

const ACTIONS: Record<ActionKind, (action: PromotionAction) => string> = {
  launch: ({ name_en }) => `Announced the launch of ${name_en}`,
  feature: ({ name_en }) => `Introduced the feature ${name_en}`,
  model: ({ name_en }) => `Introduced the model ${name_en}`,
  api: ({ name_en }) => `Offered an API: ${name_en}`,
  mcp: ({ name_en }) => `Offered MCP support: ${name_en}`,
  plan: ({ name_en }) => `Introduced the plan ${name_en}`,
  price: ({ name_en }) => `Changed the terms of the plan ${name_en}`,
  ai_source: ({ name_en }) => `Received first visits from ${name_en}`,
  search_ads: () => "Started search ads",
  creatives: ({ before, after }) => `Ran ${count(after ?? 0)} ad creatives, up from ${count(before ?? 0)}`,
  articles: ({ after }) => `Covered by ${counted(after ?? 0, "article or review", "articles or reviews")}`,
  directories: (action) => `Listed in ${counted(added(action), "more AI directory", "more AI directories")}`,
  links: (action) => `Gained links from ${counted(added(action), "more website", "more websites")}`,
  pages: (action) => `Added ${counted(added(action), "page", "pages")} to the sitemap`,
  positioning: ({ name_en }) => `Changed its tagline: ${name_en}`,
};

const CHANNEL: Record<Channel, string> = {
  organic: "Organic search",
  paid: "Paid",
  ai_referral: "AI assistants",
  direct: "Direct",
};

const BUILD_ON: Record<Channel, string> = {
  organic: "Keep the pages that rank up to date, and add some for the searches below.",
  paid: "Compare what a paid visit costs with what it brings before spending more.",
  ai_referral: "Find out which questions assistants answer with this product, and write pages that answer them.",
  direct: "People come by name: make what they come back for easy to find.",
};

export const REPORT_TEXTS_EN: ReportTexts = {
  title: (name) => `How ${name} was promoted`,
  overview: (name, first, last, from, to) =>
    `${name} had ${count(from)} visits in ${first} and ${count(to)} in ${last}.`,
  betweenSentences: " ",
  method: "Dated public changes were put beside the monthly traffic of the tracked sample.",
  action: (action) => ACTIONS[action.kind](action),
  ofProduct: (product, title) => `${product}: ${title}`,
  visitsThen: (visits, change) => {
    if (visits === null) return "No visits were observed in this month.";
    if (change === null)
      return `${counted(visits, "visit", "visits")} in this month; the month before was not observed.`;
    const moved = change === 0 ? "as many as" : `${count(Math.abs(change))} ${change > 0 ? "more" : "fewer"} than`;
    return `${counted(visits, "visit", "visits")} in this month, ${moved} in the month before.`;
  },
  source: (kind, product) => {
    const said = {
      announcements: "announcements",
      changelog: "changelog",
      pricing: "pricing page",
      docs: "documentation",
      homepage: "homepage",
      sitemap: "sitemap",
      ads: "entries in an ads library",
      media: "articles and reviews",
      directories: "entries in AI directories",
      links: "index of linking websites",
      traffic: "monthly traffic sample",
      searches: "search keyword sample",
    };
    return `${product}: ${said[kind]}`;
  },
  phase: (direction, from, to, change) => {
    const said = { up: "grew", down: "shrank", flat: "stayed level" };
    return `Traffic ${said[direction]} from ${from} to ${to} (${change}).`;
  },
  channel: CHANNEL,
  channelShare: (channel, before, now) => `${channel}: ${before} of visits at first, ${now} at last.`,
  trafficSection: "Where visits come from",
  channelAdvice: (channel, isGain) =>
    isGain ? BUILD_ON[channel] : "No channel gained share: look for one that is not used yet.",
  strategy: {
    product: "Product releases",
    pricing: "Plans and prices",
    ai_visibility: "Visibility in AI assistants",
    paid_acquisition: "Paid acquisition",
    earned_attention: "Articles, directories and links",
    website: "Website and positioning",
  },
  strategyText: (items, grew) => {
    const latest = items.slice(-3).map(({ title, month }) => `${title} (${month})`);
    const dated = counted(items.length, "dated change", "dated changes");
    return `${dated} of this kind, the latest: ${latest.join("; ")}. Visits rose in the month of ${count(grew)} of ${count(items.length)}.`;
  },
  strategyAdvice: (kind, best) => {
    if (best === null) {
      return "None of these came with more visits: try this on a small scale, and measure, before copying it.";
    }
    const next = {
      product: "announce the next release where that one was announced",
      pricing: "test such a change with new customers before all get it",
      ai_visibility: "check which assistants still send no visits",
      paid_acquisition: "repeat it with a fixed budget, and stop where visits do not follow",
      earned_attention: "offer the next news to the same places",
      website: "add pages step by step, and watch which of them are visited",
    };
    return `Begin with what came with most visits, "${best.title}" (${best.month}, ${count(best.traffic_change ?? 0)} more than the month before): ${next[kind]}.`;
  },
  searchSection: "What people search for",
  searchText: (leads) => {
    const said = leads.map(({ keyword, traffic }) => `"${keyword}" (${counted(traffic, "visit", "visits")})`);
    return `Searches that bring most visits in the latest month: ${said.join(", ")}.`;
  },
  searchAdvice: (keyword) => `Look at what "${keyword}" leads to, and at who else receives its traffic.`,
  unresolved: (title, month) => `Whether this moved traffic is open: ${title} (${month}).`,
  lead: (keyword) => `Visits by the search "${keyword}"`,
  conclusion: (name, actions, phases) =>
    `${name} shows ${counted(actions, "dated change", "dated changes")} over ${counted(phases, "phase", "phases")} of traffic; what caused what is not established.`,
  limitations: ["Only tracked products and months are looked at.", "Visits are estimates of a sample."],
  caveat: "That one thing came after another does not show that it came from it.",
};
