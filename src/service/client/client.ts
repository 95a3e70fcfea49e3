import { z } from "zod";
import type { InvestigationTask } from "../contract/investigation.js";
import { OPERATIONS, type Operation } from "../contract/operations.js";
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
import { localeSchema, type ServiceLocale } from "../contract/shared-schemas.js";
import type { NewRegistration, RegisterWebhookBody } from "../contract/webhook-registration.js";
import { resolveClientOptions, type ClientOptions } from "./client-options.js";
import { checkCallOptions, checkInput, checkPathParameter } from "./operations/check-input.js";
import {
  startInvestigation,
  type StartInvestigationInput,
  isFinished,
  waitForInvestigation,
  type FinishedInvestigation,
  type KnownTask,
  type WaitForInvestigationOptions,
} from "./operations/investigations.js";
import { operationCaller, type AnswerOf } from "./transport/call-operation.js";
import type { PlatformAbortSignal } from "./transport/platform.js";
import type { Quota } from "./transport/raw-answer.js";

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
 * const client = createClient({ baseUrl: "https://api.example/v1", apiKey: () => process.env.API_KEY ?? "" });
 * for await (const product of client.rankingsItems({ sort: "ai" })) console.log(product.rank, product.name);
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

  /** Calls an operation whose query or body is its only input. */
  function call<Name extends "registerWebhook" | "searchDemand" | "rankings">(operation: Name) {
    const part = "body" in OPERATIONS[operation] ? "body" : "query";
    const schema = (OPERATIONS[operation] as Operation)[part] as z.ZodObject;
    return async (input: object = {}, callOptions: CallOptions = {}): Promise<AnswerOf<Name>> => {
      const { signal } = checkCallOptions(operation, callOptions);
      const checked = checkInput(operation, schema, input);
      return callOperation({ operation, [part]: checked, signal });
    };
  }

  /** The methods of an operation that answers in pages. */
  function paged<Name extends "searchDemand" | "rankings">(operation: Name, lastPage: number) {
    type Item = AnswerOf<Name>["items"][number];
    const one = call(operation);
    async function* pages(
      given: { page?: number | undefined } = {},
      callOptions?: CallOptions,
    ): AsyncGenerator<AnswerOf<Name>, void> {
      const query = checkInput(operation, OPERATIONS[operation].query, given);
      yield* walkPages(query.page ?? 1, lastPage, (page) => one({ ...query, page }, callOptions));
    }
    async function* items(query?: object, callOptions?: CallOptions): AsyncGenerator<Item, void> {
      for await (const page of pages(query, callOptions)) yield* page.items as Item[];
    }
    return { one, pages, items };
  }

  const demand = paged("searchDemand", LAST_DEMAND_PAGE);
  const ranked = paged("rankings", LAST_RANKINGS_PAGE);
  return {
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
    registerWebhook: call("registerWebhook"),
    async productProfile(slug, callOptions = {}) {
      const operation = "productProfile";
      const { signal, ...given } = checkCallOptions(operation, callOptions, ["signal", "locale"]);
      const path = { slug: checkPathParameter(operation, "slug", slug) };
      const query = checkInput(operation, productProfileQuerySchema, given);
      return callOperation({ operation, path, query, signal });
    },
    searchDemand: demand.one,
    searchDemandPages: demand.pages,
    searchDemandItems: demand.items,
    rankings: ranked.one,
    rankingsPages: ranked.pages,
    rankingsItems: ranked.items,
    quota: () => lastQuota,
  };
}

/**
 * Requests one page after the other, each when the caller asks for it. Ends when the service says
 * that there are no more pages, at the last page that the document allows, and at a page without
 * items. Also ends when the service answers with a different page from the requested page, because
 * Developer Access always gets the first page.
 */
async function* walkPages<
  Answer extends { items: readonly unknown[]; pagination: { page: number; has_more: boolean } },
>(
  firstPage: number,
  lastPage: number,
  read: (page: number) => Promise<Answer>,
): AsyncGenerator<Answer, void, undefined> {
  for (let page = firstPage; ; page++) {
    const answer = await read(page);
    if (answer.pagination.page !== page) return;
    yield answer;
    // Checked after the read: if the caller's first page is out of bounds, `read` throws an error
    // for it.
    if (page >= lastPage || !answer.pagination.has_more || answer.items.length === 0) return;
  }
}
