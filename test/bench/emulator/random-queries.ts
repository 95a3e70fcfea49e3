const RANKING_SORTS = ["growth", "gain", "traffic", "dr_growth", "organic", "ai", "paid"];
const DEMAND_SORTS = ["traffic", "volume", "products"];
const WORDS = ["voice", "video", "ai", "agent", "语音", "code", "studio", "image"];
const COUNTRIES = ["US", "DE", "IN", "JP"];

/** Queries as people send them: mostly the defaults with a filter or two; the same ones in each run. */
export function randomQueries(
  operation: "rankings" | "search-demand",
  sectors: readonly string[],
  count: number,
): string[] {
  let state = 42;
  const below = (bound: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
  const oneOf = (values: readonly string[]): string => values[below(values.length)] ?? "";
  return Array.from({ length: count }, () => {
    const query = new URLSearchParams({ limit: String(5 + below(46)), page: String(1 + below(3)) });
    if (below(4) === 0) query.set("q", oneOf(WORDS));
    if (operation === "rankings") {
      query.set("sort", oneOf(RANKING_SORTS));
      if (below(3) === 0) query.set("category", oneOf(sectors));
      if (below(3) === 0) query.set("country", oneOf(COUNTRIES));
    } else {
      query.set("sort", oneOf(DEMAND_SORTS));
      query.set("type", oneOf(["all", "brand", "non_brand"]));
      if (below(3) === 0) query.set("market", oneOf(sectors));
    }
    return query.toString();
  });
}
