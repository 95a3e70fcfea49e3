import type { OperationName, OPERATIONS } from "../operations.js";

/** The tags of the OpenAPI document. */
export const TAGS = {
  Investigations: "Promotion investigations: started once, then polled.",
  Signals: "Signed notifications of newly published signals.",
  Catalog: "The public catalogue of products.",
  Research: "Rankings of products and the search demand around them.",
} as const;

/** What the OpenAPI document says of an operation. */
export interface OperationText {
  tag: keyof typeof TAGS;
  summary: string;
  description: string;
  /** What the one good answer is. */
  answer: string;
}

/** The texts of each operation. */
export const OPERATION_TEXTS: Record<OperationName, OperationText> = {
  startInvestigation: {
    tag: "Investigations",
    summary: "Start a promotion investigation",
    description:
      "Starts the research into how one product was promoted, in the background, and uses research allowance. The same " +
      "key with the same product and language finds the task that is there already; with others it is a conflict (409). " +
      "An account has three active investigations at most. 503 may come before the feature is activated.",
    answer: "The task, queued; its report is null.",
  },
  readInvestigation: {
    tag: "Investigations",
    summary: "Read an investigation",
    description:
      "Reads a task and starts nothing. It is free, also when the month's quota is used up; rate limits hold. Wait 60 " +
      "seconds between reads while the task is pending. A task of another account is not found.",
    answer: "The task as it stands, with its report once it has succeeded.",
  },
  registerWebhook: {
    tag: "Signals",
    summary: "Register a signal webhook",
    description:
      "Registers an HTTPS endpoint for future signals about products that the account follows. The endpoint is sent a " +
      "`webhook.verification` soon after. An account may register ten a day.",
    answer: "The registration, pending, with its signing secret, which is shown once.",
  },
  productProfile: {
    tag: "Catalog",
    summary: "Read a product's profile",
    description: "Looks a product up by its canonical slug. Public, and counted nowhere.",
    answer: "The profile; which fields it has depends on the account.",
  },
  searchDemand: {
    tag: "Research",
    summary: "Search demand",
    description:
      "Keywords, the tracked products that receive their traffic, and how it is spread over them. Shares are of the " +
      "tracked sample. Developer Access sees page 1, ten rows, one month of history and five sectors, also inside lists.",
    answer: "A page of keywords, and the detail of one when it was asked for.",
  },
  rankings: {
    tag: "Research",
    summary: "Product rankings",
    description:
      "Products ranked by growth, change, traffic, domain rating, organic, AI-referral or paid metrics. Some of the " +
      "orders need account features of their own. Developer Access sees page 1 and ten results.",
    answer: "A page of ranked products.",
  },
};

type QueryOf<Name extends OperationName> = (typeof OPERATIONS)[Name] extends { query: { shape: infer Shape } }
  ? Record<keyof Shape, string>
  : never;

/** One line on each query parameter. */
export const PARAMETER_TEXTS = {
  searchDemand: {
    locale: "The language asked for; `resolved_locale` tells which one came.",
    q: "Searches in the keywords.",
    market: "The slug of the sector of the receiving products; no country.",
    type: "Keywords without a brand, with one, or all.",
    min_products: "The fewest products that receive traffic from a keyword.",
    min_traffic: "The least observed traffic.",
    min_volume: "The least search volume.",
    sort: "By what the rows are ordered.",
    page: "The page, counted from 1.",
    limit: "Rows on a page.",
    keyword_id: "Asks for the detail of this keyword in `keyword`; 0, or nothing, asks for none.",
  },
  rankings: {
    locale: "The language asked for; `resolved_locale` tells which one came.",
    category: "The slug of a category.",
    country: "A country of two letters, in either case.",
    q: "Searches in the products.",
    sort: "By what the products are ranked.",
    order: "Which end comes first.",
    min_traffic: "The fewest visits.",
    min_growth: "The least growth, as a ratio: 0.1 means 10 percent.",
    min_dr: "The lowest domain rating.",
    min_dr_gain: "The least increase of the domain rating.",
    max_domain_age_months: "The oldest domain, in months; 0 means any.",
    page: "The page, counted from 1.",
    limit: "Products on a page.",
  },
} satisfies { searchDemand: QueryOf<"searchDemand">; rankings: QueryOf<"rankings"> };

/** One line and one example for each path parameter. */
export const PATH_PARAMETERS: Record<string, { description: string; example: string }> = {
  task_id: { description: "The id of the task.", example: "task_3f0c2a6e-5b1d-4e8a-9c47-d2b6f1a0e935" },
  slug: { description: "The canonical slug of the product.", example: "aurora-notes" },
};

/** What each error status means. */
export const STATUS_TEXTS: Record<number, { name: string; description: string }> = {
  400: { name: "BadRequest", description: "A parameter, or the body, is wrong. Mend it before you ask again." },
  401: { name: "Unauthorized", description: "There is no key, or it is wrong or revoked." },
  403: { name: "Forbidden", description: "The key's scopes or the account's access do not reach this far." },
  404: { name: "NotFound", description: "There is no such product or resource, or it belongs to another account." },
  409: { name: "Conflict", description: "The idempotency key was used for another request." },
  429: {
    name: "TooManyRequests",
    description:
      "Too many requests within a minute, or the month's quota is used up: `error.code` and the quota headers tell which.",
  },
  503: { name: "Unavailable", description: "The data or the feature is not there now. Try again, ever more slowly." },
};
