export type { InvestigationTask, TaskStage, TaskStatus } from "../api/investigation.js";
export type { ServiceLocale } from "../api/locale.js";
export type { OperationName } from "../api/operations.js";
export type { ProductProfile } from "../api/product-profile.js";
export type { RankingItem, RankingSort, RankingsQuery, RankingsResponse } from "../api/rankings.js";
export type { InvestigationReport } from "../api/report.js";
export type { KeywordDetail, KeywordRow, SearchDemandQuery, SearchDemandResponse } from "../api/search-demand.js";
export type {
  NewRegistration,
  RegisterWebhookBody,
  RegistrationStatus,
  WebhookRegistration,
} from "../api/webhook-registration.js";
export type { Clock, ClockTimer } from "../time/clock.js";
export { isSignalboxError, SignalboxError, type SignalboxErrorCode } from "../errors.js";

export type { ApiKeySource } from "./transport/api-key.js";
export { createClient, type CallOptions, type Client, type ProductProfileQuery } from "./client.js";
export { ClientError, isClientError, type ClientErrorFields, type ClientErrorKind } from "./client-error.js";
export type { ClientOptions, ClientRetryOptions } from "./client-options.js";
export type { AbortSignalLike, PlatformAbortSignal, PlatformFetch } from "./platform.js";
export type { Quota } from "./transport/quota.js";
export type { StartInvestigationInput } from "./operations/start-investigation.js";
export type { FinishedInvestigation, WaitForInvestigationOptions } from "./operations/wait-for-investigation.js";
