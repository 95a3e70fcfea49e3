import { GATED_RANKING_SORTS } from "../access/authorize.js";
import { DETAIL_ROWS, HISTORY_MONTHS } from "../research/keyword-detail.js";
import {
  BALANCED_FROM_CR3,
  BASELINE_TRAFFIC,
  CONCENTRATED_FROM_CR3,
  LISTED_PRODUCTS,
} from "../research/keyword-rows.js";
import { TRAFFIC_DATA_SOURCE } from "../research/read-search-demand.js";
import { ERROR_STATUS } from "../../api/error-envelope.js";
import { CHANGE_DIRECTIONS, SIGNALS } from "../market/signals/signal-table.js";
import { PRICING_MODELS, STALENESS_STATUSES } from "../market/generator/product.js";

/** A behaviour where the document says "not shown", or nothing, that cannot be switched: no user could want the other way. */
export interface FixedAssumption {
  /** What the emulator does. Clients and receivers should accept other words and further keys too. */
  is: string;
  reason: string;
}

const listed = (words: readonly string[]): string => `${words.join(", ")}.`;
const others = (words: readonly string[], shown: string): string[] => words.filter((word) => word !== shown);

const UNITS = Object.values(SIGNALS).flatMap(({ unit }) => unit);

/** By name. `assumptions.ts` has the behaviours that can be switched. */
export const FIXED_ASSUMPTIONS = {
  taskSteps: {
    is: "An investigation is queued with the stage queued, running with investigating and then generating_report, succeeded with complete; one that fails or is cancelled keeps its stage.",
    reason: "Each stage but the first and the last is work, and the enums have this order.",
  },
  taskFailure: {
    is: "An investigation fails when its product was observed in fewer than two months, or when the control API says so; only the control API can cancel one.",
    reason: "With one month there is nothing to compare.",
  },
  taskErrorCodes: {
    is: "A task's error has the code INSUFFICIENT_EVIDENCE where too few months were observed; INVESTIGATION_FAILED, or any other that is given, from the control API. A cancelled task has none.",
    reason: "They say what happened in the style of the code that the document names.",
  },
  reportItems: {
    is: "Each item of a report's lists is an object with a title or a text; what is claimed has citations, the ids of sources, and a source has a url.",
    reason: "The document says that the analysis is cited.",
  },
  reliabilityValues: {
    is: "The reliability of a report has words that follow from the data, such as partial, high, correlated, unclear and not_established; growthCausality is always not_established.",
    reason: "That one thing came after another does not show that it came from it.",
  },
  registrationSteps: {
    is: "A pending registration becomes active by a 2xx that echoes the challenge; active becomes paused by failures or the control API, which makes paused active again and deletes any.",
    reason: "The verification has to have an effect, and each status has to be reachable.",
  },
  dashboardOperations: {
    is: "The control API lists, reads, pauses, deletes and rotates registrations, and lists and cancels investigations; the REST API has the six operations of the document.",
    reason: "The document does that in a dashboard.",
  },
  testTrigger: {
    is: "A person triggers a test event by the control API, for an active registration, with a message of theirs.",
    reason: "Dashboards of other services have a button for it.",
  },
  deliveryHeaders: {
    is: "A delivery has beside the signature Content-Type, Content-Length, User-Agent: signalbox-emulator, and what HTTP itself needs.",
    reason: "A receiver should rely on the signed body only.",
  },
  pricingModels: {
    is: `pricing_model is one of ${listed(PRICING_MODELS)}`,
    reason: "The usual ways of charging for software.",
  },
  stalenessStatuses: {
    is: `staleness_status is one of ${listed(STALENESS_STATUSES)}`,
    reason: "A profile was checked lately, or not.",
  },
  categoryItems: {
    is: "An item of a profile's categories has id, slug, name, is_primary; the primary one comes first.",
    reason: "Sector options of search demand have the first three, and a profile names its primary category.",
  },
  rankingsDataset: {
    is: "The dataset of the rankings has methodology_version, latest_month, previous_month, captured_at.",
    reason: "Items have both months, and the dataset of search demand says when it was captured.",
  },
  rankingsFilters: {
    is: "The filters of the rankings have category, country, q, sort, order, min_traffic, min_growth, min_dr, min_dr_gain, max_domain_age_months.",
    reason: "The parameters as they were applied; page and limit are in the pagination.",
  },
  rankingsCategory: {
    is: "The category of the rankings has id, name, slug; it is null without one in the request.",
    reason: "As the sector options of search demand.",
  },
  rankingsSelection: {
    is: "In the rankings a minimum of 0 filters nothing, not even products that shrink or have no domain rating; a category has the products that name it second, too.",
    reason: "Domain ratings may be null in rankings, and a profile lists several categories.",
  },
  trafficDataSource: {
    is: `The provider of the traffic data is named ${TRAFFIC_DATA_SOURCE}.`,
    reason: "The document does not name the provider; this name says that the figures are made up.",
  },
  brandTypes: {
    is: "type=brand has the keywords of brand type mixed too, type=non_brand those of brand type unknown.",
    reason: "Some people who search for a mixed keyword mean a brand; nothing says that an unknown one is a brand's.",
  },
  concentration: {
    is: `By its CR3 a keyword's traffic is concentrated from ${CONCENTRATED_FROM_CR3}, balanced from ${BALANCED_FROM_CR3}, distributed below; single with one product.`,
    reason: "The three largest products have nearly all of the traffic, or most of it.",
  },
  comparisonBaseline: {
    is: `A keyword is compared with a month ago from ${BASELINE_TRAFFIC} visits then.`,
    reason: "A change against a few visits says nothing.",
  },
  keywordLists: {
    is: `A row of a keyword lists ${LISTED_PRODUCTS} products and sums up the others; a detail has at most ${DETAIL_ROWS} rows in a list, and ${HISTORY_MONTHS} months of history.`,
    reason: "Rows have other_products, and the largest page has 50 rows.",
  },
  profileLocale: {
    is: "The product profile takes the query parameter locale and ignores others.",
    reason: "A profile says which locale was requested, and its only error is 404.",
  },
  accessGates: {
    is: `Every protected operation requires api.access; the ranking sorts ${GATED_RANKING_SORTS.join(", ")} require market.sort.<value> each, which accounts have by default.`,
    reason:
      "The document says that api.access gates access in general; the other sorts are what every ranking item shows.",
  },
  sessionScopes: {
    is: "A session token has the scope research:read.",
    reason: "The two operations that accept one require no other.",
  },
  countedCalls: {
    is: "A call takes a unit of the monthly quota when it is answered with a success, but for a start that recovers an investigation by its idempotency key.",
    reason:
      "A refused call delivers nothing, and a repeated start must work for a client that lost the answer to its last call.",
  },
  rateWindow: {
    is: "The 60 seconds of the request rate are those before each request.",
    reason: "A rolling window is the stricter reading: no 60 seconds have more requests than the limit.",
  },
  registrationDay: {
    is: "The ten registrations of a day are counted in the UTC day.",
    reason: "The month of the quota is a UTC month.",
  },
  wrongMethods: {
    is: "A method that a path does not have gets 404.",
    reason: "The document has no other error for what does not exist.",
  },
  changeDirections: {
    is: `change.direction is up, ${listed(others(CHANGE_DIRECTIONS, "up"))}`,
    reason: "Some changes are neither a rise nor a fall. Of a rank, up is the better one.",
  },
  changeUnits: {
    is: `The units of a change are visits, ${listed(others([...new Set(UNITS)].sort(), "visits"))}`,
    reason: "What is counted, in the plural; a share is a ratio.",
  },
  errorCodes: {
    is: `The error codes beside PRO_API_QUOTA_EXHAUSTED are ${listed(others(Object.keys(ERROR_STATUS), "PRO_API_QUOTA_EXHAUSTED"))}`,
    reason: "One for each cause that a client may treat in a way of its own.",
  },
  localeResolution: {
    is: "As locale, zh, also before a hyphen or an underscore and in either case, is zh-CN; all other texts are en.",
    reason: "There are two locales, and en is the default.",
  },
  compatibility: {
    is: "There is no policy of deprecation: no operation, field or version is ever retired, and nothing announces such a change.",
    reason: "The document has no policy; view is refused as it says.",
  },
} as const satisfies Record<string, FixedAssumption>;
