import {
  investigationTaskSchema,
  type InvestigationTask,
} from "../../../../src/service/contract/investigation.js";
import { productProfileSchema } from "../../../../src/service/contract/product-profile.js";
import {
  rankingsResponseSchema,
  type RankingsResponse,
} from "../../../../src/service/contract/rankings.js";
import {
  searchDemandResponseSchema,
  type SearchDemandResponse,
} from "../../../../src/service/contract/search-demand.js";
import {
  newRegistrationSchema,
  type NewRegistration,
} from "../../../../src/service/contract/webhook-registration.js";
import { sampleOf, TASK_ID } from "../contract/sample.js";
import type { PlainAnswer } from "./serve-answers.js";

export { TASK_ID };
const OPEN = {
  poll_after_seconds: 60,
  result_url: null,
  completed_at: null,
  error: null,
  report: null,
};
const QUEUED: InvestigationTask = { ...sampleOf(investigationTaskSchema), ...OPEN };
const DEMAND = sampleOf(searchDemandResponseSchema);
const RANKINGS = sampleOf(rankingsResponseSchema);

export const profile = {
  ...sampleOf(productProfileSchema),
  name: "Larkvoice",
  pricing_model: "freemium",
  // The client passes on what the document does not have.
  added_later: { deep: [1] },
};
export const registration: NewRegistration = {
  ...sampleOf(newRegistrationSchema),
  signing_secret: "whsec_shown_once",
  signal_types: ["a_type_of_next_year"],
};

export const task = (over: Partial<InvestigationTask> = {}): InvestigationTask => ({
  ...QUEUED,
  ...over,
});

export const failedTask = (): InvestigationTask =>
  task({
    status: "failed",
    stage: "complete",
    poll_after_seconds: null,
    completed_at: "2026-11-01T01:00:00Z",
    error: { code: "SOURCES_UNREACHABLE", message: "No source answered." },
  });

const keywordRow = (id: number) => ({
  ...DEMAND.items[0]!,
  keyword: `keyword ${id}`,
  keyword_id: id,
});

export function demandPage(
  page: number,
  hasMore: boolean,
  ids: readonly number[] = [page],
): SearchDemandResponse {
  const pagination = { ...DEMAND.pagination, page, has_more: hasMore, has_previous: page > 1 };
  return { ...DEMAND, items: ids.map(keywordRow), keyword: null, pagination };
}

const rankingItem = (rank: number) => ({
  ...RANKINGS.items[0]!,
  rank,
  name: `Product ${rank}`,
  slug: `product-${rank}`,
});

export function rankingsPage(
  page: number,
  hasMore: boolean,
  ranks: readonly number[] = [page],
): RankingsResponse {
  return {
    ...RANKINGS,
    items: ranks.map(rankingItem),
    pagination: { page, limit: 25, has_more: hasMore },
  };
}

/** The service's own error. */
export function refusal(
  status: number,
  code: string,
  { headers, details }: { headers?: Record<string, string>; details?: unknown } = {},
): PlainAnswer {
  return {
    status,
    ...(headers === undefined ? {} : { headers }),
    json: { error: { code, message: `It says ${code}.`, details }, request_id: "req_17" },
  };
}

export const quotaHeaders = (resetAt: string): Record<string, string> => ({
  "X-Quota-Limit": "50",
  "X-Quota-Remaining": "0",
  "X-Quota-Policy": "50;month",
  "X-Quota-Reset": resetAt,
});
