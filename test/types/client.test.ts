import { expectTypeOf, test } from "vitest";
import type {
  Client,
  InvestigationReport,
  InvestigationTask,
  KeywordDetail,
  KeywordRow,
  NewRegistration,
  ProductProfile,
  Quota,
  RankingItem,
  RankingsResponse,
  SearchDemandResponse,
} from "../../src/service/client/index.js";

// Held by `tsc -p test`: the functions below are never called.

test("the documented fields of answers are typed", () => {
  expectTypeOf<KeywordRow["search_volume"]>().toBeNumber();
  expectTypeOf<
    NonNullable<KeywordRow["traffic_distribution"]>["products"][number]["name"]
  >().toBeString();
  expectTypeOf<RankingItem["domain_rating"]>().toEqualTypeOf<number | null | undefined>();
  expectTypeOf<InvestigationTask["status"]>().toEqualTypeOf<
    "queued" | "running" | "succeeded" | "failed" | "cancelled"
  >();
  expectTypeOf<NonNullable<InvestigationTask["report"]>>().toEqualTypeOf<InvestigationReport>();
  expectTypeOf<NewRegistration["signing_secret"]>().toBeString();
});

test("a misspelt field of an answer does not compile", () => {
  const read = (
    row: KeywordRow,
    detail: KeywordDetail,
    demand: SearchDemandResponse,
    item: RankingItem,
    rankings: RankingsResponse,
    profile: ProductProfile,
  ) => [
    // @ts-expect-error search_volume
    row.volume,
    // @ts-expect-error share
    row.traffic_distribution?.products[0]?.shares,
    // @ts-expect-error month
    detail.history[0]?.mnth,
    // @ts-expect-error has_more
    demand.pagination.hasMore,
    // @ts-expect-error observed_terms
    demand.summary.terms,
    // @ts-expect-error latest_visits
    item.visits,
    // @ts-expect-error next_page
    rankings.pagination.nextPage,
    // @ts-expect-error name
    profile.nam,
  ];
  expectTypeOf(read).toBeFunction();
});

test("a misspelt field of a task, report, registration or quota does not compile", () => {
  const read = (
    task: InvestigationTask,
    report: InvestigationReport,
    made: NewRegistration,
    quota: Quota,
  ) => [
    // @ts-expect-error status
    task.stat,
    // @ts-expect-error message
    task.error?.mesage,
    // @ts-expect-error conclusion
    report.conclusions,
    // @ts-expect-error title
    report.narrative?.titel,
    // @ts-expect-error sourceCount
    report.summary.source_count,
    // @ts-expect-error overview
    report.analysis.overveiw,
    // @ts-expect-error signing_secret
    made.signingSecret,
    // @ts-expect-error remaining
    quota.left,
  ];
  expectTypeOf(read).toBeFunction();
});

test("a field that the service adds later, or does not document, can be read as unknown", () => {
  const read = (row: KeywordRow, report: InvestigationReport) => [
    (row as Record<string, unknown>)["added_later"],
    report.timeline[0]?.["action"],
  ];
  expectTypeOf(read).returns.toEqualTypeOf<unknown[]>();
});

test("a misspelt parameter or option of a call does not compile", () => {
  const call = (client: Client) => [
    // @ts-expect-error min_volume
    client.searchDemand({ minVolume: 1 }),
    // @ts-expect-error growth
    client.rankings({ sort: "grwth" }),
    // @ts-expect-error onProgress
    client.waitForInvestigation("task_1", { progress: () => {} }),
    // @ts-expect-error confirmUsage
    client.startInvestigation({ slug: "aurora-notes", confirm_usage: true }),
    // @ts-expect-error new_model
    client.registerWebhook({ url: "https://a.example", signal_types: ["new_modle"] }),
  ];
  expectTypeOf(call).toBeFunction();
});
