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
  /** What the document leaves open. */
  about: string;
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
    about: "How status and stage of an investigation go on.",
    is: "queued with queued, running with investigating and then generating_report, succeeded with complete; one that fails or is cancelled keeps its stage.",
    reason: "Each stage but the first and the last is work, and the enums have this order.",
  },
  taskFailure: {
    about: "What makes an investigation fail or be cancelled.",
    is: "It fails when its product was observed in fewer than two months, or when the control API says so; only the control API can cancel one.",
    reason: "With one month there is nothing to compare.",
  },
  taskErrorCodes: {
    about: "The codes of a task's error.",
    is: "INSUFFICIENT_EVIDENCE where too few months were observed; INVESTIGATION_FAILED, or any other that is given, from the control API. A cancelled task has none.",
    reason: "They say what happened in the style of the code that the document names.",
  },
  reportItems: {
    about: "The item fields of a report's lists.",
    is: "Each item is an object with a title or a text; what is claimed has citations, the ids of sources, and a source has a url.",
    reason: "The document says that the analysis is cited.",
  },
  reliabilityValues: {
    about: "The values of a report's reliability keys.",
    is: "Words that follow from the data, such as partial, high, correlated, unclear and not_established; growthCausality is always not_established.",
    reason: "That one thing came after another does not show that it came from it.",
  },
  registrationSteps: {
    about: "How the status of a registration goes on.",
    is: "pending becomes active by a 2xx that echoes the challenge; active becomes paused by failures or the control API, which makes paused active again and deletes any.",
    reason: "The verification has to have an effect, and each status has to be reachable.",
  },
  dashboardOperations: {
    about: "Operations to list, read, pause, delete and rotate registrations, and to list or cancel investigations.",
    is: "The control API has them; the REST API has the six operations of the document.",
    reason: "The document does that in a dashboard.",
  },
  testTrigger: {
    about: "What triggers a test event.",
    is: "A person, by the control API, for an active registration, with a message of theirs.",
    reason: "Dashboards of other services have a button for it.",
  },
  deliveryHeaders: {
    about: "The headers of a delivery beside the signature.",
    is: "Content-Type, Content-Length, User-Agent: signalbox-emulator, and what HTTP itself needs.",
    reason: "A receiver should rely on the signed body only.",
  },
  pricingModels: {
    about: "The values of pricing_model.",
    is: listed(PRICING_MODELS),
    reason: "The usual ways of charging for software.",
  },
  stalenessStatuses: {
    about: "The values of staleness_status.",
    is: listed(STALENESS_STATUSES),
    reason: "A profile was checked lately, or not.",
  },
  categoryItems: {
    about: "The item shape of a profile's categories.",
    is: "id, slug, name, is_primary; the primary one first.",
    reason: "Sector options of search demand have the first three, and a profile names its primary category.",
  },
  rankingsDataset: {
    about: "The keys of the rankings' dataset beside the methodology version.",
    is: "methodology_version, latest_month, previous_month, captured_at.",
    reason: "Items have both months, and the dataset of search demand says when it was captured.",
  },
  rankingsFilters: {
    about: "The keys of the rankings' filters.",
    is: "category, country, q, sort, order, min_traffic, min_growth, min_dr, min_dr_gain, max_domain_age_months.",
    reason: "The parameters as they were applied; page and limit are in the pagination.",
  },
  rankingsCategory: {
    about: "The shape of the rankings' category.",
    is: "id, name, slug; null without one in the request.",
    reason: "As the sector options of search demand.",
  },
  rankingsSelection: {
    about: "Which products a ranking has.",
    is: "A minimum of 0 filters nothing, not even products that shrink or have no domain rating; a category has the products that name it second, too.",
    reason: "Domain ratings may be null in rankings, and a profile lists several categories.",
  },
  trafficDataSource: {
    about: "The constant that names the provider of the traffic data.",
    is: `${TRAFFIC_DATA_SOURCE}.`,
    reason: "The document does not name the provider; this name says that the figures are made up.",
  },
  brandTypes: {
    about: "Whether type=brand or type=non_brand has the keywords of brand type mixed and unknown.",
    is: "mixed ones are with brand, unknown ones with non_brand.",
    reason: "Some people who search for a mixed keyword mean a brand; nothing says that an unknown one is a brand's.",
  },
  concentration: {
    about: "The CR3 from which a keyword's traffic is called concentrated or balanced.",
    is: `concentrated from ${CONCENTRATED_FROM_CR3}, balanced from ${BALANCED_FROM_CR3}, distributed below; single with one product.`,
    reason: "The three largest products have nearly all of the traffic, or most of it.",
  },
  comparisonBaseline: {
    about: "The traffic that a keyword must have had a month ago for a comparison.",
    is: `${BASELINE_TRAFFIC} visits.`,
    reason: "A change against a few visits says nothing.",
  },
  keywordLists: {
    about: "How long the lists of a keyword are.",
    is: `A row lists ${LISTED_PRODUCTS} products and sums up the others; a detail has at most ${DETAIL_ROWS} rows in a list, and ${HISTORY_MONTHS} months of history.`,
    reason: "Rows have other_products, the largest page has 50 rows, and a year shows the season.",
  },
  profileLocale: {
    about: "The query parameters of the product profile.",
    is: "locale; others are ignored.",
    reason: "A profile says which locale was requested, and its only error is 404.",
  },
  accessGates: {
    about: "Which account features gate access beside those of the two research operations.",
    is: `Every protected operation requires api.access; the ranking sorts ${GATED_RANKING_SORTS.join(", ")} require market.sort.<value> each, which accounts have by default.`,
    reason:
      "The document says that api.access gates access in general; the other sorts are what every ranking item shows.",
  },
  sessionScopes: {
    about: "The scopes of a session token.",
    is: "research:read.",
    reason: "The two operations that accept one require no other.",
  },
  countedCalls: {
    about: "Which calls take a unit of the monthly quota.",
    is: "Those that are answered with a success, but for a start that recovers an investigation by its idempotency key.",
    reason:
      "A refused call delivers nothing, and a repeated start must work for a client that lost the answer to its last call.",
  },
  rateWindow: {
    about: "When the 60 seconds of the request rate begin.",
    is: "60 seconds before each request.",
    reason: "A rolling window is the stricter reading: no 60 seconds have more requests than the limit.",
  },
  registrationDay: {
    about: "Which day the ten registrations of a day are counted in.",
    is: "The UTC day.",
    reason: "The month of the quota is a UTC month.",
  },
  wrongMethods: {
    about: "The status for a method that a path does not have.",
    is: "404.",
    reason: "The document has no other error for what does not exist.",
  },
  changeDirections: {
    about: "The values of change.direction other than up.",
    is: listed(others(CHANGE_DIRECTIONS, "up")),
    reason: "Some changes are neither a rise nor a fall. Of a rank, up is the better one.",
  },
  changeUnits: {
    about: "The units of a change other than visits.",
    is: listed(others([...new Set(UNITS)].sort(), "visits")),
    reason: "What is counted, in the plural; a share is a ratio.",
  },
  errorCodes: {
    about: "The error codes other than that of the quota.",
    is: listed(others(Object.keys(ERROR_STATUS), "PRO_API_QUOTA_EXHAUSTED")),
    reason: "One for each cause that a client may treat in a way of its own.",
  },
  localeResolution: {
    about: "What the free text of locale resolves to.",
    is: "zh, also before a hyphen or an underscore and in either case, is zh-CN; all other texts are en.",
    reason: "There are two locales, and en is the default.",
  },
  compatibility: {
    about: "The policy of compatibility and deprecation.",
    is: "None: no operation, field or version is ever retired, and nothing announces such a change.",
    reason: "The document has no policy; view is refused as it says.",
  },
} as const satisfies Record<string, FixedAssumption>;
