import { z } from "zod";
import { startInvestigationBodySchema, taskIdSchema } from "./investigation.js";
import { LIMITS } from "./limits.js";
import type { OperationName } from "./operations.js";
import { rankingsQuerySchema } from "./rankings.js";
import { searchDemandQuerySchema } from "./search-demand.js";

/**
 * One tool of the remote MCP (service document, Remote MCP). Its texts are for models that choose
 * and call tools.
 */
export interface McpTool {
  /** The operation that the tool mirrors. Its answer is the tool's payload. */
  operation: OperationName;
  title: string;
  description: string;
  input: z.ZodObject;
  hints: {
    readOnlyHint: boolean;
    idempotentHint: boolean;
    destructiveHint: boolean;
    openWorldHint: boolean;
  };
}

const READS = {
  readOnlyHint: true,
  idempotentHint: true,
  destructiveHint: false,
  openWorldHint: false,
} as const;

const POLL = `${LIMITS.pollAfterSeconds} seconds`;

const COUNTED = `With Developer Access each call uses one of the ${LIMITS.developerCallsPerMonth} calls a month`;

const DEVELOPER = `${COUNTED}, and gets page 1 with at most ${LIMITS.developerRows} rows.`;

/** The four tools by name. */
export const MCP_TOOLS = {
  start_promotion_investigation: {
    operation: "startInvestigation",
    title: "Start a promotion investigation",
    description:
      "Starts an investigation of how one AI product was promoted, and returns its task. It runs in the background and uses " +
      "research allowance: ask the user first, then set confirm_usage to true. The answer has no report. Call " +
      `get_promotion_investigation with the task_id after ${POLL}. If the answer was lost, call again with the same ` +
      "idempotency_key, slug and locale: this returns the same task. An account can have " +
      `${LIMITS.activeInvestigations} active investigations. ${COUNTED}.`,
    input: startInvestigationBodySchema,
    hints: {
      readOnlyHint: false,
      idempotentHint: true,
      destructiveHint: false,
      openWorldHint: true,
    },
  },
  get_promotion_investigation: {
    operation: "readInvestigation",
    title: "Read a promotion investigation",
    description:
      "Reads the task of an investigation. While its status is queued or running, its report is null: wait " +
      `poll_after_seconds (${POLL}) before you read again. When the status is succeeded, the report is there. ` +
      "failed and cancelled are final too. Reading uses no quota and does not speed up the investigation.",
    input: z.strictObject({
      task_id: taskIdSchema.describe("The task_id in the answer of start_promotion_investigation."),
    }),
    hints: READS,
  },
  search_ai_demand: {
    operation: "searchDemand",
    title: "Search the demand for AI products",
    description:
      "Lists search keywords and the tracked AI products that receive their traffic, with traffic shares and the share of " +
      "the three largest products (CR3). With keyword_id it adds the detail of one keyword: history, sectors, products and " +
      "related keywords. Shares are of the traffic of tracked products, not of all searches or the whole market. A change " +
      `is usable only if comparison_status is comparable; null means unavailable, not zero. 25 rows are about 35 KB, so ask for a small limit. ${DEVELOPER}`,
    input: searchDemandQuerySchema,
    hints: READS,
  },
  rank_ai_products: {
    operation: "rankings",
    title: "Rank AI products",
    description:
      "Ranks AI products by traffic growth, traffic change, traffic, domain rating, or organic, AI-referral or paid visits, " +
      "with filters. growth_rate is a ratio: 0.314 means 31.4 percent. null means unavailable. Some sort orders need " +
      `additional account features. ${DEVELOPER}`,
    input: rankingsQuerySchema,
    hints: READS,
  },
} as const satisfies Record<string, McpTool>;

/** The scope that every tool needs besides the scope of its operation. */
export const MCP_SCOPE = "mcp:tools";

/** What a model should know before it uses the tools. */
export const MCP_INSTRUCTIONS =
  "Market intelligence on AI products: rankings, search demand, and investigations of how a product was promoted. " +
  `An investigation runs in the background: wait ${POLL} between reads of its task.`;
