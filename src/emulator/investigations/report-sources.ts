import type { Text } from "../market/format-values.js";
import type { SourceKind } from "../market/signals/signal-table.js";
import type { ReportProduct } from "./report-subject.js";
import type { Fill } from "./report-texts.js";

/** The publisher of a source: the maker of the product, a third party, or a sample of the market. */
type Publisher = "maker" | "third_party" | "sample";

/** Where actions, traffic and searches are observed: the publisher, the host (the product's site by default) and the title. */
const PLACES: Readonly<Record<SourceKind, readonly [publisher: Publisher, host: string, title: Text]>> = {
  site: ["maker", "", ["{name}: official site", "{name}：官方网站"]],
  ads: ["third_party", "ads-library.example/", ["{name}: ads library", "{name}：广告库记录"]],
  web: ["third_party", "web-index.example/", ["{name}: other websites", "{name}：其他网站"]],
  traffic: ["sample", "traffic-panel.example/", ["{name}: monthly traffic sample", "{name}：月度流量样本"]],
  searches: ["sample", "search-sample.example/", ["{name}: search sample", "{name}：搜索关键词样本"]],
};

/** Whether a source names the actor. A directory, a link or an article does not name its initiator. */
export const namesActor = (source: SourceKind): boolean => source === "site" || source === "ads";

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
    cite(
      kind: SourceKind,
      { name, domain, tool_id }: Omit<ReportProduct, "tool_id"> & { tool_id: number | null },
    ): string {
      const [publisher, host, title] = PLACES[kind];
      const url = `https://${host}${domain}`;
      const known = byUrl.get(url);
      if (known !== undefined) return known.id;
      const id = `source_${byUrl.size + 1}`;
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
