import type { Text } from "../market/format-values.js";
import type { SourceKind } from "../market/signals/signal-table.js";
import type { Fill } from "./report-texts.js";

/** The publisher of a source: the maker of the product, a third party, or a sample of the market. */
type Publisher = "maker" | "third_party" | "sample";

interface Place {
  publisher: Publisher;
  /** Whether the source names the actor. */
  namesActor: boolean;
  url: (address: string) => string;
  title: Text;
}

/** The places where actions, traffic and searches are observed. */
const PLACES: Readonly<Record<SourceKind, Place>> = {
  site: place("maker", true, "", ["{name}: official site", "{name}：官方网站"]),
  // An ads library names the advertiser. A directory, a link or an article does not name its initiator.
  ads: place("third_party", true, "ads-library.example/", ["{name}: ads library", "{name}：广告库记录"]),
  web: place("third_party", false, "web-index.example/", ["{name}: other websites", "{name}：其他网站"]),
  traffic: place("sample", false, "traffic-panel.example/", ["{name}: monthly traffic sample", "{name}：月度流量样本"]),
  searches: place("sample", false, "search-sample.example/", ["{name}: search sample", "{name}：搜索关键词样本"]),
};

function place(publisher: Publisher, namesActor: boolean, site: string, title: Text): Place {
  return { publisher, namesActor, url: (address) => `https://${site}${address}`, title };
}

/** Whether the source of an action names the actor. */
export const namesActor = (source: SourceKind): boolean => PLACES[source].namesActor;

/** The subject of a source: a product, or a whole category. */
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
};

/** The sources of a report. The first citation of a source adds it to the list. */
export function createSources(fill: Fill) {
  const byUrl = new Map<string, Source>();
  return {
    list: (): Source[] => [...byUrl.values()],
    /** @returns the source's id */
    cite(kind: SourceKind, { name, address, tool_id }: CitedSubject): string {
      const url = PLACES[kind].url(address);
      const known = byUrl.get(url);
      if (known !== undefined) return known.id;
      const id = `source_${byUrl.size + 1}`;
      const { publisher, title } = PLACES[kind];
      byUrl.set(url, { id, kind, publisher, product_id: tool_id, url, title: fill(title, { name }) });
      return id;
    },
  };
}

/** Whether the actors of all, some or none of the actions are known (service document, Report: reliability). */
export function actorAttribution(sources: readonly SourceKind[]): "observed" | "partial" | "not_established" {
  const known = sources.filter(namesActor).length;
  if (known === 0) return "not_established";
  return known === sources.length ? "observed" : "partial";
}

/** Coverage is high with a year of data and sources of the maker and of third parties, and low without such sources. */
export function coverageLevel(
  sources: readonly { publisher: Publisher }[],
  months: number,
): "high" | "partial" | "low" {
  const isFrom = (publisher: Publisher): boolean => sources.some((source) => source.publisher === publisher);
  if (months >= 12 && isFrom("maker") && isFrom("third_party")) return "high";
  return months >= 3 && (isFrom("maker") || isFrom("third_party")) ? "partial" : "low";
}
