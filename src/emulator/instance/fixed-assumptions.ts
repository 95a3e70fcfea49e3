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
import { LIMITS } from "../../api/limits.js";
import { CHANGE_DIRECTIONS, SIGNALS } from "../market/signals/signal-table.js";
import { PRICING_MODELS, STALENESS_STATUSES } from "../market/generator/product.js";

/**
 * A behaviour that the service's document does not define and that cannot be changed, because no user needs a different
 * behaviour.
 */
export interface FixedAssumption {
  /** What the emulator does. Clients and receivers should also accept other values and further keys. */
  is: string;
  reason: string;
}

const listed = (values: readonly string[]): string => `${values.join(", ")}.`;
const others = (values: readonly string[], shown: string): string[] => values.filter((value) => value !== shown);

const UNITS = Object.values(SIGNALS).flatMap(({ unit }) => unit);

/** By name. `assumptions.ts` has the behaviours that can be changed. */
export const FIXED_ASSUMPTIONS = {
  taskSteps: {
    is: "An investigation is queued with the stage queued, then running with the stages investigating and generating_report, then succeeded with the stage complete. One that fails or is cancelled keeps its stage.",
    reason:
      "The enums of the document have this order. Work is done only in the two stages in the middle, so only these are running.",
  },
  taskFailure: {
    is: "An investigation fails when its product was observed in fewer than two months, or when the control API makes it fail. Only the control API can cancel one.",
    reason: "A single month cannot be compared with another.",
  },
  taskErrorCodes: {
    is: "The error of a failed investigation has the code INSUFFICIENT_EVIDENCE when too few months were observed. When the control API made it fail, the code is the given one, or INVESTIGATION_FAILED. A cancelled investigation has no error.",
    reason: "The codes say what happened, in the style of the code that the document names.",
  },
  reportItems: {
    is: "Each item of a report's lists is an object with a title or a text. A claim has citations, which are ids of sources. A source has a url.",
    reason: "The document says that the analysis is cited.",
  },
  reliabilityValues: {
    is: "The values in the reliability of a report follow from the data, such as partial, high, correlated, unclear and not_established. growthCausality is always not_established.",
    reason: "If one event came after another, that does not prove that the first one caused it.",
  },
  registrationSteps: {
    is: "A 2xx answer that returns the challenge makes a pending registration active. Failures or the control API pause an active registration. The control API makes a paused one active again, and deletes any.",
    reason: "The verification must have an effect, and every status must be reachable.",
  },
  dashboardOperations: {
    is: "The control API lists, reads, pauses, deletes and rotates registrations, and lists and cancels investigations; the REST API has the six operations of the document.",
    reason: "The document says that a dashboard does this.",
  },
  testTrigger: {
    is: "The control API sends a test event to an active registration, with a message that the caller chooses.",
    reason: "Dashboards of other services have a button for this.",
  },
  deliveryHeaders: {
    is: "Besides the signature, a delivery has Content-Type, Content-Length, User-Agent: signalbox-emulator, and the headers that HTTP requires.",
    reason: "A receiver should rely only on the signed body.",
  },
  pricingModels: {
    is: `pricing_model is one of ${listed(PRICING_MODELS)}`,
    reason: "The usual ways of charging for software.",
  },
  stalenessStatuses: {
    is: `staleness_status is one of ${listed(STALENESS_STATUSES)}`,
    reason: "The values say whether a profile was checked recently.",
  },
  categoryItems: {
    is: "An item of a profile's categories has id, slug, name, is_primary; the primary category is first.",
    reason: "The sector options of search demand have the first three, and a profile names its primary category.",
  },
  rankingsDataset: {
    is: "The dataset of the rankings has methodology_version, latest_month, previous_month, captured_at.",
    reason: "Items have both months, and the dataset of search demand says when it was captured.",
  },
  rankingsFilters: {
    is: "The filters of the rankings have category, country, q, sort, order, min_traffic, min_growth, min_dr, min_dr_gain, max_domain_age_months.",
    reason: "They are the parameters as they were applied. The pagination has page and limit.",
  },
  rankingsCategory: {
    is: "The category of the rankings has id, name, slug; it is null when the request has none.",
    reason: "The sector options of search demand have the same fields.",
  },
  rankingsSelection: {
    is: "In the rankings a minimum of 0 filters nothing, not even products that shrink or have no domain rating. A category also includes products that have it as a secondary category.",
    reason: "Domain ratings may be null in rankings, and a profile lists several categories.",
  },
  trafficDataSource: {
    is: `The provider of the traffic data is named ${TRAFFIC_DATA_SOURCE}.`,
    reason: "The document does not name the provider. This name says that the data are made up.",
  },
  brandTypes: {
    is: "type=brand includes keywords of the brand type mixed; type=non_brand includes keywords of the brand type unknown.",
    reason:
      "Some people who search for a mixed keyword mean a brand. Nothing shows that an unknown keyword names a brand.",
  },
  concentration: {
    is: `A keyword's traffic is concentrated from a CR3 of ${CONCENTRATED_FROM_CR3}, balanced from ${BALANCED_FROM_CR3}, and otherwise distributed. With one product it is single.`,
    reason: "The three largest products have nearly all of the traffic, most of it, or less.",
  },
  comparisonBaseline: {
    is: `A keyword is compared with a month ago if it had at least ${BASELINE_TRAFFIC} visits then.`,
    reason: "A change from a few visits means little.",
  },
  keywordLists: {
    is: `A row of a keyword lists ${LISTED_PRODUCTS} products and sums up the others. A list in a detail has at most ${DETAIL_ROWS} rows, and its history ${HISTORY_MONTHS} months.`,
    reason: "Rows have other_products, and the largest page has 50 rows.",
  },
  profileLocale: {
    is: "The product profile takes the query parameter locale and ignores all other parameters.",
    reason: "A profile has a requested locale, and its only documented error is 404.",
  },
  accessGates: {
    is: `Every protected operation requires api.access. The ranking sorts ${GATED_RANKING_SORTS.join(", ")} each require market.sort.<value>, which accounts have by default.`,
    reason:
      "The document says that api.access gates access in general. The numbers of the other sorts are in every ranking item.",
  },
  sessionScopes: {
    is: "A session token has the scope research:read.",
    reason: "The two operations that accept a session token require no other scope.",
  },
  countedCalls: {
    is: "A successful call uses a unit of the monthly quota, unless it is a start that returns the earlier investigation with the same idempotency key.",
    reason:
      "A refused call delivers nothing. A client that lost the answer to its last call must be able to repeat the start.",
  },
  rateWindow: {
    is: "The request rate counts the requests of the last 60 seconds.",
    reason: "A rolling window is the stricter reading: no span of 60 seconds has more requests than the limit.",
  },
  registrationDay: {
    is: `The limit of ${LIMITS.registrationsPerDay} registrations a day is counted by the UTC day.`,
    reason: "The month of the quota is a UTC month, too.",
  },
  wrongMethods: {
    is: "A method that a path of the REST API does not support gets 404.",
    reason: "The document has no other error for what does not exist.",
  },
  changeDirections: {
    is: `change.direction is up, ${listed(others(CHANGE_DIRECTIONS, "up"))}`,
    reason: "Some changes are neither a rise nor a fall. A better rank is up.",
  },
  changeUnits: {
    is: `The units of a change are visits, ${listed(others([...new Set(UNITS)].sort(), "visits"))}`,
    reason: "The unit is the plural of what is counted. A share is a ratio.",
  },
  errorCodes: {
    is: `Besides PRO_API_QUOTA_EXHAUSTED the error codes are ${listed(others(Object.keys(ERROR_STATUS), "PRO_API_QUOTA_EXHAUSTED"))}`,
    reason: "There is one code for each cause that a client may want to handle differently.",
  },
  localeResolution: {
    is: "The locales zh, zh-… and zh_…, in upper or lower case, are zh-CN. All other texts are en.",
    reason: "There are two locales, and en is the default.",
  },
  mcpProtocol: {
    is: "The remote MCP has the handshake, tool discovery, ping and notifications of the protocol's versions 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28. It answers each request with JSON, and has no batches, streams or sessions.",
    reason: "The document says JSON-RPC 2.0 and stateless. These are the versions that clients speak.",
  },
  mcpRequests: {
    is: "Handshake, tool discovery, ping and notifications need a valid key, but no scope. Every request counts for the request rate. A method other than POST gets 405, even without a key.",
    reason:
      "The document has scopes for tools only, and its rate limits apply to free operations. The protocol requires 405.",
  },
  mcpErrors: {
    is: "A refused key, a body that is too large and, if it calls no tool, a request above the rate get the status and error envelope of the REST API. A refused message gets a JSON-RPC error. A refused call of a tool gets a tool error whose payload is the error envelope, with HTTP status 200. Headers for quota and rate are those of the REST API.",
    reason: "Each refusal is where a client of the protocol looks for it.",
  },
  mcpOrigins: {
    is: "On the emulator's own machine, the remote MCP answers only requests to localhost or a loopback address, and no requests of pages of other sites.",
    reason: "The protocol requires this of servers on a user's machine. The service itself is at a public address.",
  },
  compatibility: {
    is: "There is no deprecation policy: no operation, field or version is ever retired, and nothing announces such a change.",
    reason: "The document has no such policy. It says only that view is refused.",
  },
} as const satisfies Record<string, FixedAssumption>;
