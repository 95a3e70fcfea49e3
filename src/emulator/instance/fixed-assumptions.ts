import { ERROR_STATUS } from "../../api/error-envelope.js";
import { CHANGE_DIRECTIONS, SIGNALS } from "../market/signals/signal-table.js";
import { PRICING_MODELS, STALENESS_STATUSES } from "../market/generator/product.js";

/** What the emulator does where the document says "not shown" and a switch would serve nobody: shapes and vocabularies. */
export interface FixedAssumption {
  /** What the document leaves open. */
  about: string;
  /** What the emulator does. Clients and receivers do best to take other words and further keys too. */
  is: string;
  reason: string;
}

const listed = (words: readonly string[]): string => `${words.join(", ")}.`;
const others = (words: readonly string[], shown: string): string[] => words.filter((word) => word !== shown);

const UNITS = Object.values(SIGNALS).flatMap(({ unit }) => unit);

/** All of them, by their names; those of `assumptions.ts` can be switched. */
export const FIXED_ASSUMPTIONS = {
  taskSteps: {
    about: "How status and stage of an investigation go on.",
    is: "queued with queued, running with investigating and then generating_report, succeeded with complete; one that fails or is cancelled keeps its stage.",
    reason: "Each stage but the first and the last is work, and the enums have this order.",
  },
  taskFailure: {
    about: "What makes an investigation fail or be cancelled.",
    is: "It fails when its product was observed in fewer than two months, or when the control API says so, which alone can cancel one.",
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
    reason: "The verification is there for something, and a status of each name has to be reached.",
  },
  dashboardOperations: {
    about: "Operations to list, read, pause, delete and rotate registrations, and to list or cancel investigations.",
    is: "The control API has them; the REST API has the six operations of the document.",
    reason: "The document does that in a dashboard.",
  },
  testTrigger: {
    about: "What triggers a test event.",
    is: "A person, by the control API, with a message of theirs.",
    reason: "Dashboards of other services have a button for it.",
  },
  deliveryHeaders: {
    about: "The headers of a delivery beside the signature.",
    is: "Content-Type, Content-Length, User-Agent, and what HTTP itself needs.",
    reason: "A receiver is to rely on the signed body alone.",
  },
  pricingModels: {
    about: "The values of pricing_model.",
    is: listed(PRICING_MODELS),
    reason: "The usual ways of charging for software.",
  },
  stalenessStatuses: {
    about: "The values of staleness_status.",
    is: listed(STALENESS_STATUSES),
    reason: "A profile was looked at lately, or not.",
  },
  categoryItems: {
    about: "The item shape of a profile's categories.",
    is: "id, slug, name, is_primary; the primary one first.",
    reason: "Sector options of search demand have the first three, and a profile names its primary category.",
  },
  rankingsDataset: {
    about: "The keys of the rankings' dataset beside the methodology version.",
    is: "methodology_version, latest_month, previous_month, captured_at.",
    reason: "Items have both months, and the dataset of search demand tells when it was captured.",
  },
  rankingsFilters: {
    about: "The keys of the rankings' filters.",
    is: "category, country, q, sort, order, min_traffic, min_growth, min_dr, min_dr_gain, max_domain_age_months.",
    reason: "The parameters as they were applied; page and limit are in the pagination.",
  },
  rankingsCategory: {
    about: "The shape of the rankings' category.",
    is: "id, name, slug; null where none was asked for.",
    reason: "As the sector options of search demand.",
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
    is: "zh, alone or before a hyphen or an underscore, in either case, is zh-CN; all else is en.",
    reason: "There are two locales, and en is the default.",
  },
  compatibility: {
    about: "The policy of compatibility and deprecation.",
    is: "None: no operation, field or version is ever retired, and nothing tells of one that will be.",
    reason: "There is nothing to follow; view is refused as the document says.",
  },
} as const satisfies Record<string, FixedAssumption>;
