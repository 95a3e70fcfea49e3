import type { MonthIndex } from "../time/month.js";
import { formatMonth } from "../time/month.js";
import type { ActionKind, PromotionAction } from "./promotion-actions.js";
import type { ReportSubject } from "./report-subject.js";
import type { ReportTexts } from "./report-texts.js";

/** Where something was seen. */
export type SourceKind =
  | "announcements"
  | "changelog"
  | "pricing"
  | "docs"
  | "homepage"
  | "sitemap"
  | "ads"
  | "media"
  | "directories"
  | "links"
  | "traffic"
  | "searches";

/** Whose word it is: the maker's own pages, someone else's, or a sample of the market. */
export type Publisher = "maker" | "third_party" | "sample";

const PLACES: Record<SourceKind, { publisher: Publisher; namesActor: boolean; url(domain: string): string }> = {
  announcements: own("blog"),
  changelog: own("changelog"),
  pricing: own("pricing"),
  docs: own("docs"),
  homepage: own(""),
  sitemap: own("sitemap.xml"),
  // An ads library names who pays for an ad; of a list, a link or an article nobody knows who saw to it.
  ads: { ...elsewhere("ads-library", "third_party"), namesActor: true },
  media: elsewhere("media-index", "third_party"),
  directories: elsewhere("ai-directories", "third_party"),
  links: elsewhere("link-index", "third_party"),
  traffic: elsewhere("traffic-panel", "sample"),
  searches: elsewhere("search-sample", "sample"),
};

function own(page: string): (typeof PLACES)[SourceKind] {
  return { publisher: "maker", namesActor: true, url: (domain) => `https://${domain}/${page}` };
}

function elsewhere(site: string, publisher: Publisher): (typeof PLACES)[SourceKind] {
  return { publisher, namesActor: false, url: (domain) => `https://${site}.example/${domain}` };
}

/** Where an action of a kind is seen. */
const SEEN_AT: Record<ActionKind, SourceKind> = {
  launch: "announcements",
  feature: "changelog",
  model: "changelog",
  api: "docs",
  mcp: "docs",
  plan: "pricing",
  price: "pricing",
  ai_source: "traffic",
  search_ads: "ads",
  creatives: "ads",
  articles: "media",
  directories: "directories",
  links: "links",
  pages: "sitemap",
  positioning: "homepage",
};

export type Source = {
  id: string;
  kind: SourceKind;
  publisher: Publisher;
  product_id: number;
  url: string;
  title: string;
  /** The last month of which it tells something here. */
  last_seen: string;
};

/** The sources of a report, each once; whoever cites one adds it. */
export interface Sources {
  readonly list: readonly Source[];
  /** @returns the source's id */
  cite(kind: SourceKind, toolId: number, month: MonthIndex): string;
  citeAction(action: PromotionAction): string;
}

export function createSources(subject: ReportSubject, texts: ReportTexts): Sources {
  const byUrl = new Map<string, Source>();
  function cite(kind: SourceKind, toolId: number, month: MonthIndex): string {
    const product = subject.products.find(({ tool_id }) => tool_id === toolId);
    if (product === undefined) throw new Error("A source is of a product that was not asked for.");
    const { publisher, url } = PLACES[kind];
    const address = url(product.domain);
    const last_seen = formatMonth(month);
    const known = byUrl.get(address);
    if (known !== undefined) {
      if (known.last_seen < last_seen) known.last_seen = last_seen;
      return known.id;
    }
    const id = `source_${byUrl.size + 1}`;
    const title = texts.source(kind, product.name);
    byUrl.set(address, { id, kind, publisher, product_id: toolId, url: address, title, last_seen });
    return id;
  }
  return {
    get list() {
      return [...byUrl.values()];
    },
    cite,
    citeAction: ({ kind, tool_id, month }) => cite(SEEN_AT[kind], tool_id, month),
  };
}

/** Whether the place where an action was seen tells who acted. */
export function namesActor(kind: ActionKind): boolean {
  return PLACES[SEEN_AT[kind]].namesActor;
}

/** How far it is known who acted (service document, Report: reliability). */
export function actorAttribution(kinds: readonly ActionKind[]): "observed" | "partial" | "not_established" {
  const known = kinds.filter(namesActor).length;
  if (known === 0) return "not_established";
  return known === kinds.length ? "observed" : "partial";
}

/** A year, the maker's own word and someone else's make a high coverage; a sample alone a low one. */
export function coverageLevel(sources: readonly Source[], months: number): "high" | "partial" | "low" {
  const from = (publisher: Publisher): boolean => sources.some((source) => source.publisher === publisher);
  if (months >= 12 && from("maker") && from("third_party")) return "high";
  return months >= 3 && (from("maker") || from("third_party")) ? "partial" : "low";
}
