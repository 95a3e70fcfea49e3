import { formatMonth, type MonthIndex } from "../time/month.js";
import type { Text } from "../market/format-values.js";
import type { SourceKind } from "../market/signals/signal-table.js";
import type { Fill } from "./report-texts.js";

/** Whose word a source is: the maker's own site, someone else's, or a sample of the market. */
type Publisher = "maker" | "third_party" | "sample";

interface Place {
  publisher: Publisher;
  /** Whether the place says who acted. */
  namesActor: boolean;
  url: (address: string) => string;
  title: Text;
}

/** The places where actions, traffic and searches are observed. */
const PLACES: Readonly<Record<SourceKind, Place>> = {
  site: place("maker", true, "", ["{name}: official site", "{name}：官方网站"]),
  // An ads library names the advertiser. A list, a link or an article does not fill who arranged it.
  ads: place("third_party", true, "ads-library.example/", ["{name}: ads library", "{name}：广告库记录"]),
  web: place("third_party", false, "web-index.example/", ["{name}: other websites", "{name}：其他网站"]),
  traffic: place("sample", false, "traffic-panel.example/", ["{name}: monthly traffic sample", "{name}：月度流量样本"]),
  searches: place("sample", false, "search-sample.example/", ["{name}: search sample", "{name}：搜索关键词样本"]),
};

function place(publisher: Publisher, namesActor: boolean, site: string, title: Text): Place {
  return { publisher, namesActor, url: (address) => `https://${site}${address}`, title };
}

/** Whether the place where an action was seen says who acted. */
export const namesActor = (source: SourceKind): boolean => PLACES[source].namesActor;

/** What a source is about: a product, or a category as a whole. */
export interface CitedSubject {
  name: string;
  /** The domain of a product, the slug of a category. */
  address: string;
  /** Null for a category. */
  tool_id: number | null;
}

type Source = {
  id: string;
  kind: SourceKind;
  publisher: Publisher;
  product_id: number | null;
  url: string;
  title: string;
  /** The last month for which the report cites it. */
  last_seen: string;
};

/** The sources of a report. Citing one adds it to the list, once. */
export function createSources(fill: Fill) {
  const byUrl = new Map<string, Source>();
  return {
    list: (): Source[] => [...byUrl.values()],
    /** @returns the source's id */
    cite(kind: SourceKind, { name, address, tool_id }: CitedSubject, month: MonthIndex): string {
      const url = PLACES[kind].url(address);
      const known = byUrl.get(url);
      const last_seen = formatMonth(month);
      if (known !== undefined) {
        if (known.last_seen < last_seen) known.last_seen = last_seen;
        return known.id;
      }
      const id = `source_${byUrl.size + 1}`;
      const { publisher, title } = PLACES[kind];
      byUrl.set(url, { id, kind, publisher, product_id: tool_id, url, title: fill(title, { name }), last_seen });
      return id;
    },
  };
}

/** How far it is known who acted (service document, Report: reliability). */
export function actorAttribution(places: readonly SourceKind[]): "observed" | "partial" | "not_established" {
  const known = places.filter(namesActor).length;
  if (known === 0) return "not_established";
  return known === places.length ? "observed" : "partial";
}

/** A year of data with the word of the maker and of a third party is high coverage; samples without either are low. */
export function coverageLevel(
  sources: readonly { publisher: Publisher }[],
  months: number,
): "high" | "partial" | "low" {
  const isFrom = (publisher: Publisher): boolean => sources.some((source) => source.publisher === publisher);
  if (months >= 12 && isFrom("maker") && isFrom("third_party")) return "high";
  return months >= 3 && (isFrom("maker") || isFrom("third_party")) ? "partial" : "low";
}
