import type { JSX } from "preact";
import type { KeywordDetail, SearchDemandResponse } from "../../../../api/search-demand.js";
import { formatCount } from "../../parts/format.js";
import { href, useRoute } from "../../parts/use-route.js";
import { visible } from "../../parts/visible-text.js";
import { FilterForm } from "../action-form.js";
import { Facts, List, Loaded, Panel } from "../panel.js";
import { Pages, useResearch } from "./use-research.js";

const PATH = ["research", "demand"] as const;
const SORTS = [
  ["traffic", "Observed traffic"],
  ["volume", "Search volume"],
  ["products", "Products"],
] as const;

/** Keywords and the products that receive their traffic; one of them in detail. */
export function SearchDemand(): JSX.Element {
  const { query } = useRoute();
  const values = { q: query.get("q") ?? "", sort: query.get("sort") ?? "traffic" };
  const page = query.get("page") ?? "";
  const keyword_id = query.get("keyword") ?? "";
  const demand = useResearch<SearchDemandResponse>("/research/search-demand", { ...values, page, keyword_id });
  return (
    <Loaded from={demand}>
      {({ items, pagination, keyword }) => (
        <>
          {keyword != null && keyword_id !== "" && <Keyword detail={keyword} close={href(PATH, { ...values, page })} />}
          <section class="panel" aria-label="Search demand" aria-busy={demand.isLoading}>
            <FilterForm
              label="Keywords"
              path={PATH}
              values={values}
              fields={[
                { name: "q", label: "Search keywords", type: "search", width: "grows" },
                { name: "sort", label: "Sort by", choices: SORTS },
              ]}
            />
            <List
              label="Keywords"
              empty="No keyword matches."
              rows={items}
              keyOf={({ keyword_id: id }) => id}
              columns={[
                {
                  label: "Keyword",
                  grows: true,
                  cell: ({ keyword_id: id, keyword: text }) => (
                    <a href={href(PATH, { ...values, page, keyword: String(id) })}>{visible(text)}</a>
                  ),
                },
                { label: "Sector", whole: true, cell: (row) => visible(row.market_name ?? "none") },
                { label: "Products", align: "end", cell: (row) => formatCount(row.observed_products) },
                { label: "Observed traffic", align: "end", cell: (row) => formatCount(row.observed_traffic) },
                { label: "Search volume", align: "end", cell: (row) => formatCount(row.search_volume) },
              ]}
            />
            <Pages pagination={pagination} path={PATH} values={values} />
          </section>
        </>
      )}
    </Loaded>
  );
}

function Keyword({ detail, close }: { detail: KeywordDetail; close: string }): JSX.Element {
  return (
    <Panel title={visible(detail.keyword)} actions={<a href={close}>Close</a>}>
      <Facts
        rows={[
          ["Kind", detail.brand_type.replaceAll("_", " ")],
          ["Search volume", formatCount(detail.search_volume)],
          ["Concentration", detail.traffic_distribution?.concentration ?? "unknown"],
        ]}
      />
      <div class="halves">
        <List
          label="Products"
          empty="No product."
          rows={detail.products}
          keyOf={({ slug }) => slug}
          columns={[
            { label: "Product", grows: true, cell: ({ name }) => visible(name) },
            { label: "Observed traffic", align: "end", cell: (row) => formatCount(row.observed_traffic) },
          ]}
        />
        <List
          label="Months"
          empty="No month."
          rows={detail.history}
          keyOf={({ month }) => month}
          columns={[
            { label: "Month", whole: true, cell: ({ month }) => month },
            { label: "Observed traffic", align: "end", cell: (row) => formatCount(row.observed_traffic) },
            { label: "Search volume", align: "end", cell: (row) => formatCount(row.search_volume) },
          ]}
        />
      </div>
    </Panel>
  );
}
