export type {
  InvestigationReport,
  InvestigationTask,
  TaskStage,
  TaskStatus,
} from "../contract/investigation.js";
export type { ServiceLocale } from "../contract/shared-schemas.js";
export type { OperationName } from "../contract/operations.js";
export type { ProductProfile } from "../contract/product-profile.js";
export type {
  RankingItem,
  RankingSort,
  RankingsQuery,
  RankingsResponse,
} from "../contract/rankings.js";
export type {
  KeywordDetail,
  KeywordRow,
  SearchDemandQuery,
  SearchDemandResponse,
} from "../contract/search-demand.js";
export type {
  NewRegistration,
  RegisterWebhookBody,
  RegistrationStatus,
  WebhookRegistration,
} from "../contract/webhook-registration.js";
export type { Clock, ClockTimer } from "../../base/time/clock.js";
export { isSignalboxError, SignalboxError, type SignalboxErrorCode } from "../../base/errors.js";

export { createClient, type CallOptions, type Client, type ProductProfileQuery } from "./client.js";
export {
  ClientError,
  isClientError,
  type ClientErrorFields,
  type ClientErrorKind,
} from "./client-error.js";
export type { ApiKeySource, ClientOptions, ClientRetryOptions } from "./client-options.js";
export type { AbortSignalLike, PlatformAbortSignal, PlatformFetch } from "./transport/platform.js";
export type { Quota } from "./transport/raw-answer.js";
export type {
  FinishedInvestigation,
  StartInvestigationInput,
  WaitForInvestigationOptions,
} from "./operations/investigations.js";
