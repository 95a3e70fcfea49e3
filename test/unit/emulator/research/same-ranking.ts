import { expect } from "vitest";
import { rankingsQuerySchema, rankingsResponseSchema } from "../../../../src/api/rankings.js";
import { readRankings } from "../../../../src/emulator/research/read-rankings.js";
import { defaultAssumptions } from "./default-assumptions.js";
import { plainMatch } from "./plain-match.js";
import type { RawMarket } from "./raw-data.js";
import { recomputeRankings, type RecomputedProduct } from "./recompute-rankings.js";

/**
 * Expects the SQL's ranking to be that of the recomputation.
 *
 * @returns how many rows were compared
 */
export function expectSameRanking({ database, raw }: RawMarket, query: unknown, isLimited: boolean): number {
  const parameters = rankingsQuerySchema.parse(query);
  const assumptions = { ...defaultAssumptions(), unknownNames: "empty" as const };
  const answer = rankingsResponseSchema.parse(readRankings(database, parameters, { isLimited }, assumptions));
  const { eligible, chosen } = recomputeRankings(raw, parameters, (row, text) =>
    plainMatch([row["name"], row["domain"], row["tagline_en"], row["tagline_zh"]].join(" "), text),
  );
  const limit = isLimited ? Math.min(10, parameters.limit) : parameters.limit;
  const page = isLimited ? 1 : parameters.page;
  const total = isLimited ? Math.min(limit, chosen.length) : chosen.length;
  // There is no page 201.
  const hasMore = page < 200 && page * limit < total;
  const first = (page - 1) * limit;
  expect(answer.items.map((item) => itemFacts(item))).toEqual(
    chosen.slice(first, first + limit).map((facts, index) => ({ rank: first + index + 1, ...facts })),
  );
  expect(answer.eligible_population).toBe(eligible);
  expect(answer.pagination).toEqual({
    page,
    limit,
    total,
    total_pages: Math.ceil(total / limit),
    has_more: hasMore,
    has_previous: page > 1,
    next_page: hasMore ? page + 1 : null,
    previous_page: page > 1 ? page - 1 : null,
  });
  return answer.items.length;
}

function itemFacts(item: Record<string, unknown>): RecomputedProduct & { rank: number } {
  return {
    rank: item["rank"],
    tool_id: item["tool_id"],
    latest_visits: item["latest_visits"],
    previous_visits: item["previous_visits"],
    visits_change: item["visits_change"],
    growth_rate: item["growth_rate"],
    domain_rating: item["domain_rating"],
    domain_rating_change: item["domain_rating_change"],
    organic: item["organic_visits"],
    ai: item["ai_referral_visits"],
    paid: item["paid_visits"],
  } as RecomputedProduct & { rank: number };
}
