import type { ComponentName } from "./component-schemas.js";

/** One line on each component of the OpenAPI document. */
export const SCHEMA_TEXTS: Record<ComponentName, string> = {
  StartInvestigationBody: "What an investigation is to be about. Unknown keys are refused.",
  InvestigationTask: "A promotion investigation, with its report once it has succeeded. Every field is always there.",
  InvestigationReport: "The saved report of a succeeded investigation.",
  RegisterWebhookBody: "Where signals go, and which. Unknown keys are refused.",
  WebhookRegistration: "A registered endpoint. The secret is in the answer that creates it, and shown once.",
  SignalType: "What a signal is about.",
  ProductProfile: "The public profile of a product.",
  SearchDemandResponse:
    "Keywords and the tracked products that receive their traffic: a sample, never the whole market.",
  KeywordRow: "A keyword with its figures. A change that is null is not available; it is not zero.",
  KeywordDetail: "A keyword with its history, sectors, products and neighbours.",
  TrafficDistribution: "How a keyword's traffic is spread over the tracked products alone.",
  RankingsResponse: "A page of ranked products.",
  RankingItem: "One ranked product. Null means not available; more fields may be there, depending on the account.",
  ErrorEnvelope: "The body of every error.",
  SignalPublishedEvent: "A newly confirmed signal about a product that the account follows.",
  WebhookVerificationEvent: "Asks an endpoint, soon after its registration, to repeat a challenge.",
  WebhookTestEvent: "A delivery to try an endpoint out with.",
  ChallengeAnswer: "The received challenge, unchanged.",
};

/** Texts on fields whose name does not say it all: units, nulls, what a field may hold. */
export const FIELD_TEXTS: { [Name in ComponentName]?: Record<string, string> } = {
  StartInvestigationBody: {
    slug: "The canonical slug of a product or a category.",
    locale: "The language of the report.",
    idempotency_key: "A UUID of your own. Use it again only to retry the same product and language.",
    confirm_usage: "Agrees that research allowance is used.",
  },
  InvestigationTask: {
    status_url: "The path at which this task is read, with the API's prefix.",
    result_url: "Null until the task has succeeded, then the path of `status_url`.",
    poll_after_seconds: "Seconds to wait before the next read; null once the task has succeeded.",
    completed_at: "Null until the task is finished.",
    error: "Null when nothing went wrong.",
    report: "Null until the task has succeeded, and when it failed. Reading never makes a report.",
  },
  InvestigationReport: {
    narrative: "The cited text of the report.",
    version: "The version of the report's form: any text.",
  },
  RegisterWebhookBody: {
    url: "The HTTPS endpoint that events are posted to.",
    locale: "The language of the events.",
    signal_types: "What to be told about.",
  },
  WebhookRegistration: {
    id: "Opaque.",
    signal_types: "Values of `SignalType`; the service may add some.",
    failure_count: "Deliveries that failed.",
    signing_secret:
      "There only when the registration was just made or its secret rotated. Keep it safe; it is shown once.",
  },
  ProductProfile: {
    verification_status: "In cards `verified` or `pending`.",
    available_locales: "The languages that this profile exists in.",
  },
  SearchDemandResponse: {
    filters: "What was applied, with every default in its place.",
    keyword: "Null unless a keyword's detail was asked for.",
    markets: "Sectors of products that can be filtered by; no map of the market.",
    resolved_locale: "The language of the answer.",
  },
  KeywordRow: {
    product_change1m: "Change in products since the month before. Null: not available.",
    traffic_change1m: "Change in traffic since the month before. Null: not available.",
    comparison_status: "Changes can be used only when this is `comparable`.",
  },
  TrafficDistribution: {
    cr3: "The share of the three largest products; null when it cannot be told.",
    other_traffic: "Traffic of the products that are not listed.",
  },
  RankingsResponse: {
    eligible_population: "How many products could be in this ranking.",
    filters: "What was applied.",
  },
  RankingItem: {
    growth_rate: "A ratio: 0.314 means 31.4 percent.",
    visits_change: "Visits of the latest month less those of the month before.",
  },
  ErrorEnvelope: {
    request_id: "Names this request to the service's support.",
  },
  SignalPublishedEvent: {
    id: "`sig_<signal_id>_<product_id>`; the same in every attempt. Keep it and take each id once.",
  },
};
