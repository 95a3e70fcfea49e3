import type { OperationName } from "../operations.js";
import type { ProductProfile } from "../product-profile.js";
import type { RegisterWebhookBody, WebhookRegistration } from "../webhook-registration.js";
import { EXAMPLE_TIME } from "./example-time.js";
import { queuedTask, startInvestigationBody, succeededTask } from "./investigation-examples.js";
import { rankings, searchDemand } from "./research-examples.js";

const registerWebhookBody: RegisterWebhookBody = {
  url: "https://hooks.customer.example/signals",
  locale: "en",
  signal_types: ["traffic_breakout", "price_increased"],
};

const registration: WebhookRegistration = {
  id: "whk_7d41c0a95e",
  url: registerWebhookBody.url,
  status: "pending",
  locale: "en",
  signal_types: ["traffic_breakout", "price_increased"],
  failure_count: 0,
  created_at: EXAMPLE_TIME,
  updated_at: EXAMPLE_TIME,
  signing_secret: "<SIGNING_SECRET>",
};

const profile: ProductProfile = {
  tool_id: 1042,
  canonical_slug: "aurora-notes",
  localized_slug: "aurora-notes",
  name: "Aurora Notes",
  tagline: "Meeting notes that write themselves",
  short_description: null,
  official_url: "https://aurora-notes.example",
  pricing_model: "freemium",
  listed_at: "2025-06-11T00:00:00.000Z",
  verification_status: "verified",
  staleness_status: "fresh",
  has_free_plan: true,
  has_free_trial: false,
  has_api: true,
  has_mcp: false,
  requested_locale: "en",
  resolved_locale: "en",
  available_locales: ["en", "zh-CN"],
  categories: [{ slug: "productivity", name: "Productivity" }],
  primary_category_slug: "productivity",
  primary_category_name: "Productivity",
};

/** An example of each operation's request and good answer. */
export const OPERATION_EXAMPLES: Record<OperationName, { request?: object; response: object }> = {
  startInvestigation: { request: startInvestigationBody, response: queuedTask },
  readInvestigation: { response: succeededTask },
  registerWebhook: { request: registerWebhookBody, response: registration },
  productProfile: { response: profile },
  searchDemand: { response: searchDemand },
  rankings: { response: rankings },
};
