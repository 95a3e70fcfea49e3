import { LIMITS } from "../../../api/limits.js";
import type { RankingSort, RankingsResponse } from "../../../api/rankings.js";
import type { KeywordDetail, SearchDemandResponse } from "../../../api/search-demand.js";
import { FilterForm, type Values } from "../parts/action-form.js";
import { DataTable, List } from "../parts/data-table.js";
import { formatCount } from "../../../text/format.js";
import { View } from "../parts/page-frame.js";
import { Facts, Panel } from "../parts/panel.js";
import { type Data, useData } from "../parts/use-data.js";
import { href, useQuery, useRoute } from "../parts/use-route.js";
import { visible } from "../../../text/visible-text.js";
import { type Answer, control, rest, useDesk } from "./control.js";

/** A look at the data, through the REST API with a session of the account: `#/research` and `#/research/demand`. */
export function Research() {
  const { account } = useDesk();
  const isDemand = useRoute().path[1] === "demand";
  const tabs = (
    <nav class="tabs" aria-label="Research">
      <a href={href(RANKINGS)} aria-current={isDemand ? undefined : "page"}>
        Rankings
      </a>
      <a href={href(DEMAND)} aria-current={isDemand ? "page" : undefined}>
        Search demand
      </a>
    </nav>
  );
  return (
    <View title={isDemand ? "Search demand" : "Rankings"} actions={tabs}>
      {account.tier === "developer" && (
        <p class="hint">
          Each answer here is a counted call: {account.calls_this_month} of {LIMITS.developerCallsPerMonth} are used
          this month. Developer Access gets page 1 alone.
        </p>
      )}
      {isDemand ? <SearchDemand /> : <Rankings />}
    </View>
  );
}

const RANKINGS = ["research"] as const;
const RANKING_SORTS: readonly (readonly [RankingSort, string])[] = [
  ["traffic", "Visits"],
  ["growth", "Growth"],
  ["gain", "Gained visits"],
  ["dr_growth", "Domain rating gained"],
  ["organic", "Organic visits"],
  ["ai", "Visits from AI"],
  ["paid", "Paid visits"],
];

/** The products by a number. */
function Rankings() {
  const values = useQuery({ sort: "traffic", q: "" });
  const rankings = useResearch<RankingsResponse>("/research/rankings", { ...values, ...useQuery({ page: "" }) });
  return (
    <section class="panel" aria-label="Rankings" aria-busy={rankings.isLoading}>
      <FilterForm
        label="Products"
        path={RANKINGS}
        values={values}
        fields={[
          { name: "sort", label: "Rank by", choices: RANKING_SORTS },
          { name: "q", label: "Search products", type: "search", width: "grows" },
        ]}
      />
      <List
        label="Rankings"
        empty="No product matches."
        from={rankings}
        keyOf={({ slug }) => slug}
        columns={[
          { label: "Rank", align: "end", cell: ({ rank }) => rank },
          { label: "Product", grows: true, cell: ({ name }) => visible(name) },
          { label: "Slug", cell: ({ slug }) => <span class="mono">{visible(slug)}</span> },
          { label: "Visits", align: "end", cell: (item) => formatCount(item.latest_visits) },
          { label: "Change", align: "end", cell: (item) => formatCount(item.visits_change) },
          { label: "Domain rating", align: "end", cell: (item) => item.domain_rating ?? "unknown" },
        ]}
      />
      <Pages of={rankings.data} path={RANKINGS} values={values} />
    </section>
  );
}

const DEMAND = ["research", "demand"] as const;
const DEMAND_SORTS = [
  ["traffic", "Observed traffic"],
  ["volume", "Search volume"],
  ["products", "Products"],
] as const;

/** Keywords and the products that receive their traffic; one of them in detail. */
function SearchDemand() {
  const values = useQuery({ q: "", sort: "traffic" });
  const { page, keyword: keyword_id } = useQuery({ page: "", keyword: "" });
  const demand = useResearch<SearchDemandResponse>("/research/search-demand", { ...values, page, keyword_id });
  const { keyword } = demand.data ?? {};
  return (
    <>
      {keyword != null && keyword_id !== "" && <Keyword detail={keyword} close={href(DEMAND, { ...values, page })} />}
      <section class="panel" aria-label="Search demand" aria-busy={demand.isLoading}>
        <FilterForm
          label="Keywords"
          path={DEMAND}
          values={values}
          fields={[
            { name: "q", label: "Search keywords", type: "search", width: "grows" },
            { name: "sort", label: "Sort by", choices: DEMAND_SORTS },
          ]}
        />
        <List
          label="Keywords"
          empty="No keyword matches."
          from={demand}
          keyOf={(row) => row.keyword_id}
          columns={[
            {
              label: "Keyword",
              grows: true,
              cell: (row) => (
                <a href={href(DEMAND, { ...values, page, keyword: row.keyword_id })}>{visible(row.keyword)}</a>
              ),
            },
            { label: "Sector", whole: true, cell: (row) => visible(row.market_name ?? "none") },
            { label: "Products", align: "end", cell: (row) => formatCount(row.observed_products) },
            { label: "Observed traffic", align: "end", cell: (row) => formatCount(row.observed_traffic) },
            { label: "Search volume", align: "end", cell: (row) => formatCount(row.search_volume) },
          ]}
        />
        <Pages of={demand.data} path={DEMAND} values={values} />
      </section>
    </>
  );
}

function Keyword({ detail, close }: { detail: KeywordDetail; close: string }) {
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
        <DataTable
          label="Products"
          empty="No product."
          rows={detail.products}
          keyOf={({ slug }) => slug}
          columns={[
            { label: "Product", grows: true, cell: ({ name }) => visible(name) },
            { label: "Observed traffic", align: "end", cell: (row) => formatCount(row.observed_traffic) },
          ]}
        />
        <DataTable
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

/** What one of the research operations answers. As in the service's own dashboard, a session token stands for a key. */
function useResearch<T>(path: string, query: Values): Data<T> {
  const { account, reload } = useDesk();
  return useData(async () => {
    try {
      const sessions = `/accounts/${account.account_id}/sessions`;
      const { token } = await control<Answer<"createSession">>("POST", sessions);
      return await rest<T>("GET", path, { token, query });
    } finally {
      // It is a counted call.
      reload();
    }
  }, [account.account_id, path, JSON.stringify(query)]);
}

interface PagesProps {
  of: { pagination: { page: number; total_pages?: number | undefined; has_more: boolean } } | undefined;
  /** The view, and the rest of its address. */
  path: readonly string[];
  values: Values;
}

/** The links to the page before and the next one. */
function Pages({ of, path, values }: PagesProps) {
  if (of === undefined) return null;
  const { page, total_pages, has_more } = of.pagination;
  const link = (to: number, label: string) => (
    <a class="button" href={href(path, { ...values, page: to })}>
      {label}
    </a>
  );
  return (
    <nav class="toolbar" aria-label="Pages">
      {page > 1 && link(page - 1, "Previous")}
      {has_more && link(page + 1, "Next")}
      <span class="muted">
        Page {formatCount(page)}
        {total_pages !== undefined && ` of ${formatCount(total_pages)}`}
      </span>
    </nav>
  );
}
