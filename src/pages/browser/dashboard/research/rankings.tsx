import type { JSX } from "preact";
import type { RankingsResponse, RankingSort } from "../../../../api/rankings.js";
import { formatCount } from "../../parts/format.js";
import { useRoute } from "../../parts/use-route.js";
import { visible } from "../../parts/visible-text.js";
import { FilterForm } from "../action-form.js";
import { List, Loaded } from "../panel.js";
import { Pages, useResearch } from "./use-research.js";

const SORTS: readonly (readonly [RankingSort, string])[] = [
  ["traffic", "Visits"],
  ["growth", "Growth"],
  ["gain", "Gained visits"],
  ["dr_growth", "Domain rating gained"],
  ["organic", "Organic visits"],
  ["ai", "Visits from AI"],
  ["paid", "Paid visits"],
];

/** The products by a number. */
export function Rankings(): JSX.Element {
  const { query } = useRoute();
  const values = { sort: query.get("sort") ?? "traffic", q: query.get("q") ?? "" };
  const rankings = useResearch<RankingsResponse>("/research/rankings", { ...values, page: query.get("page") ?? "" });
  return (
    <section class="panel" aria-label="Rankings" aria-busy={rankings.isLoading}>
      <FilterForm
        label="Products"
        path={["research"]}
        values={values}
        fields={[
          { name: "sort", label: "Rank by", choices: SORTS },
          { name: "q", label: "Search products", type: "search", width: "grows" },
        ]}
      />
      <Loaded from={rankings}>
        {({ items, pagination }) => (
          <>
            <List
              label="Rankings"
              empty="No product matches."
              rows={items}
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
            <Pages pagination={pagination} path={["research"]} values={values} />
          </>
        )}
      </Loaded>
    </section>
  );
}
