import { z } from "zod";
import type { InvestigationTask } from "../contract/investigation.js";
import { localeSchema, type ServiceLocale } from "../contract/locale.js";
import { OPERATIONS } from "../contract/operations.js";
import type { ProductProfile } from "../contract/product-profile.js";
import {
  LAST_RANKINGS_PAGE,
  type RankingItem,
  type RankingsQuery,
  type RankingsResponse,
} from "../contract/rankings.js";
import {
  LAST_DEMAND_PAGE,
  type KeywordRow,
  type SearchDemandQuery,
  type SearchDemandResponse,
} from "../contract/search-demand.js";
import type { NewRegistration, RegisterWebhookBody } from "../contract/webhook-registration.js";
import { operationCaller } from "./transport/call-operation.js";
import { checkCallOptions, checkInput, checkPathParameter } from "./operations/check-input.js";
import { resolveClientOptions, type ClientOptions } from "./client-options.js";
import type { PlatformAbortSignal } from "./platform.js";
import type { Quota } from "./transport/quota.js";
import {
  startInvestigation,
  type StartInvestigationInput,
} from "./operations/start-investigation.js";
import {
  isFinished,
  waitForInvestigation,
  type FinishedInvestigation,
  type KnownTask,
  type WaitForInvestigationOptions,
} from "./operations/wait-for-investigation.js";
import { itemsOf, walkPages } from "./operations/walk-pages.js";

/** The options of every call. */
export interface CallOptions {
  /**
   * Ends the call immediately, even between two attempts. The call then rejects with the signal's
   * reason.
   */
  signal?: PlatformAbortSignal | undefined;
}

/** The query of `productProfile`. */
export interface ProductProfileQuery {
  /**
   * The language of the profile's texts. The document lists no parameter for this operation, but
   * the answer has `requested_locale`, so the client sends `locale` as in the other operations.
   * @default not sent
   */
  locale?: ServiceLocale | undefined;
}

const productProfileQuerySchema = z.strictObject({ locale: localeSchema.optional() });

/**
 * The service's REST API (service document, Endpoints). Every method rejects with a `ClientError`,
 * or with the reason of its signal.
 */
export interface Client {
  /**
   * Starts the investigation of a product, or returns the task that was started with the same
   * idempotency key. Uses one unit of the quota, and research allowance. Retries use the same key.
   */
  startInvestigation(
    input: StartInvestigationInput,
    options?: CallOptions,
  ): Promise<InvestigationTask>;
  /** Reads an investigation once. Uses no quota. */
  readInvestigation(taskId: string, options?: CallOptions): Promise<InvestigationTask>;
  /**
   * Polls until the investigation is finished. The first poll is at least `poll_after_seconds`
   * after the last answer that this client got about the investigation, and each later poll after
   * the last answer of this wait. Also resolves when the investigation `failed` or was `cancelled`,
   * so check `status`.
   */
  waitForInvestigation(
    taskId: string,
    options?: WaitForInvestigationOptions,
  ): Promise<FinishedInvestigation>;
  /**
   * Registers an endpoint for signals. The answer holds `signing_secret`, which is shown only once:
   * store it. Uses one unit of the quota. It is retried only after a refusal. After other failures
   * the endpoint may already be registered, and a retry could register it twice.
   */
  registerWebhook(input: RegisterWebhookBody, options?: CallOptions): Promise<NewRegistration>;
  /**
   * Reads a product by its slug. Uses no quota and needs no key. With a key, the account decides
   * which fields the answer has.
   */
  productProfile(
    slug: string,
    options?: CallOptions & ProductProfileQuery,
  ): Promise<ProductProfile>;
  /**
   * Reads one page of keywords and the products that receive their traffic. Uses one unit of the
   * quota.
   */
  searchDemand(query?: SearchDemandQuery, options?: CallOptions): Promise<SearchDemandResponse>;
  /**
   * Reads page after page, from `query.page` to the last page. Each page uses one unit of the
   * quota. Developer Access gets only the first page.
   */
  searchDemandPages(
    query?: SearchDemandQuery,
    options?: CallOptions,
  ): AsyncGenerator<SearchDemandResponse, void>;
  /** The rows of {@link Client.searchDemandPages}. */
  searchDemandItems(
    query?: SearchDemandQuery,
    options?: CallOptions,
  ): AsyncGenerator<KeywordRow, void>;
  /** Reads one page of ranked products. Uses one unit of the quota. */
  rankings(query?: RankingsQuery, options?: CallOptions): Promise<RankingsResponse>;
  /** Reads page after page, like {@link Client.searchDemandPages}. */
  rankingsPages(
    query?: RankingsQuery,
    options?: CallOptions,
  ): AsyncGenerator<RankingsResponse, void>;
  /** The products of {@link Client.rankingsPages}. */
  rankingsItems(query?: RankingsQuery, options?: CallOptions): AsyncGenerator<RankingItem, void>;
  /**
   * The monthly quota of the last answer that had it; null before that, and for accounts without a
   * quota.
   */
  quota(): Quota | null;
}

/** Longer than the interval between two polls of a task. */
const KNOWN_FOR_MS = 60_000;

/**
 * Creates a client of the service's REST API over `fetch`.
 *
 * @throws SignalboxError `option_unknown`, `option_invalid`
 * @example
 * const client = createClient({ baseUrl: "https://api.example/v1", apiKey: () =>
 * process.env.API_KEY ?? "" }); for await (const product of client.rankingsItems({ sort: "ai" }))
 * console.log(product.rank, product.name);
 */
export function createClient(options: ClientOptions): Client {
  const config = resolveClientOptions(options);
  /** The last answer about each task that is not finished; forgotten when it is old. */
  const known = new Map<string, KnownTask>();
  let lastQuota: Quota | null = null;
  const callOperation = operationCaller(config, (quota) => (lastQuota = quota));

  function note(task: InvestigationTask): InvestigationTask {
    const now = config.clock.elapsed();
    for (const [id, { answeredAt }] of known) if (now - answeredAt > KNOWN_FOR_MS) known.delete(id);
    if (!isFinished(task)) known.set(task.task_id, { task, answeredAt: now });
    else known.delete(task.task_id);
    return task;
  }

  async function readTask(
    taskId: string,
    signal: PlatformAbortSignal | undefined,
    maxAttempts: number,
  ) {
    const operation = "readInvestigation";
    const path = { task_id: checkPathParameter(operation, "task_id", taskId) };
    return note(await callOperation({ operation, path, signal, maxAttempts }));
  }

  const client: Client = {
    async startInvestigation(input, callOptions = {}) {
      const { signal } = checkCallOptions("startInvestigation", callOptions);
      return note(await startInvestigation(callOperation, input, signal));
    },
    async readInvestigation(taskId, callOptions = {}) {
      const { signal } = checkCallOptions("readInvestigation", callOptions);
      return readTask(taskId, signal, config.retry.maxAttempts);
    },
    waitForInvestigation: (taskId, waitOptions = {}) =>
      waitForInvestigation(
        config,
        known.get(taskId),
        (id, signal) => readTask(id, signal, 1),
        taskId,
        waitOptions,
      ),
    async registerWebhook(input, callOptions = {}) {
      const operation = "registerWebhook";
      const { signal } = checkCallOptions(operation, callOptions);
      const body = checkInput(operation, OPERATIONS[operation].body, input);
      return callOperation({ operation, body, signal });
    },
    async productProfile(slug, callOptions = {}) {
      const operation = "productProfile";
      const { signal, ...given } = checkCallOptions(operation, callOptions, ["signal", "locale"]);
      const path = { slug: checkPathParameter(operation, "slug", slug) };
      const query = checkInput(operation, productProfileQuerySchema, given);
      return callOperation({ operation, path, query, signal });
    },
    async searchDemand(given = {}, callOptions = {}) {
      const operation = "searchDemand";
      const { signal } = checkCallOptions(operation, callOptions);
      const query = checkInput(operation, OPERATIONS[operation].query, given);
      return callOperation({ operation, query, signal });
    },
    async *searchDemandPages(given = {}, callOptions = {}) {
      const query = checkInput("searchDemand", OPERATIONS.searchDemand.query, given);
      yield* walkPages(query.page ?? 1, LAST_DEMAND_PAGE, (page) =>
        client.searchDemand({ ...query, page }, callOptions),
      );
    },
    searchDemandItems: (query, callOptions) =>
      itemsOf(client.searchDemandPages(query, callOptions)),
    async rankings(given = {}, callOptions = {}) {
      const operation = "rankings";
      const { signal } = checkCallOptions(operation, callOptions);
      const query = checkInput(operation, OPERATIONS[operation].query, given);
      return callOperation({ operation, query, signal });
    },
    async *rankingsPages(given = {}, callOptions = {}) {
      const query = checkInput("rankings", OPERATIONS.rankings.query, given);
      yield* walkPages(query.page ?? 1, LAST_RANKINGS_PAGE, (page) =>
        client.rankings({ ...query, page }, callOptions),
      );
    },
    rankingsItems: (query, callOptions) => itemsOf(client.rankingsPages(query, callOptions)),
    quota: () => lastQuota,
  };
  return client;
}
