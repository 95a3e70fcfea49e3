export { SignalboxError, isSignalboxError, type SignalboxErrorCode } from "../base/errors.js";
export type { Clock, ClockTimer } from "../base/time/clock.js";

export { SIGNATURE_HEADER } from "./senders/signature/header.js";
export { signBody, type SignBodyInput } from "./senders/signature/sign.js";
export {
  verifySignature,
  type SignatureProblem,
  type Verification,
  type VerifySignatureInput,
} from "./senders/signature/verify.js";

export {
  SIGNAL_TYPES,
  isKnownSignalType,
  type KnownSignalType,
  type SignalType,
} from "./senders/signals/signal-types.js";
export type {
  EventEnvelope,
  KnownEvent,
  Measure,
  Signal,
  SignalData,
  SignalEvent,
  TestEvent,
  UnknownEvent,
  VerificationEvent,
} from "./senders/signals/envelope.js";
export {
  parseEvent,
  type ParsedEvent,
  type UnusableReason,
} from "./senders/signals/parse-event.js";

export type { Backoff, BackoffOptions } from "./inbox/dispatch/outcomes.js";
export type { BatcherLimits } from "./inbox/batcher.js";
export type { PauseReason } from "./inbox/dispatch/dispatcher.js";
export { PermanentFailure, RetryLater } from "./inbox/failures.js";
export type { EarlierEvent, Handoff, HandoffCallback, HandoffOptions } from "./inbox/handoff.js";
export type { EraseQuery, Erasure } from "./inbox/deleting/erase.js";
export type { DurationStats } from "./inbox/durations.js";
export type { Failure, Pause } from "./inbox/situation/trouble.js";
export type { Inbox, InboxStats, InboxVitals } from "./inbox/open-inbox.js";
export type { RetentionOptions } from "./inbox/deleting/retention.js";
export type { InboxStore, StoreDiagnostics } from "./inbox/store.js";
export type { Activity, ActivityQuery } from "./inbox/activity.js";
export type {
  EventState,
  InboxEntry,
  ListQuery,
  MoveOutcome,
  PastStep,
  ReceivedDelivery,
  ReplayOutcome,
  SearchPage,
  SearchQuery,
  StateCounts,
  StoredEvent,
  StoreStats,
  BlockingEvent,
  PlacedLane,
} from "./inbox/stored-events.js";

export { captureRawBody } from "./receiver/capture-raw-body.js";
export type { DeliveryRequest, DeliveryResponse } from "./receiver/delivery.js";
export type { EventHandlers, OnEvent } from "./receiver/event-handlers.js";
export type {
  DeliveryCounts,
  ReceiverHealth,
  ReceiverState,
  ReceiverVerification,
} from "./receiver/health.js";
export type { Alarm, AlarmKind } from "./inbox/situation/alarm.js";
export type { AlarmsOptions, ReceiverOptions, SenderReceiverOptions } from "./receiver/options.js";
export type { CoalesceOptions, OrderOptions, OrderedFacts } from "./receiver/order.js";
export type { BackfilledEvent, BackfillResult } from "./receiver/backfill.js";
export { createReceiver, type Receiver } from "./receiver/receiver.js";
export type {
  EventReference,
  ReceiverEventListener,
  ReceiverEventMap,
  ReceiverEventName,
} from "./receiver/receiver-events.js";
export type { RejectionCode } from "./receiver/rejection.js";
export type { Telemetry } from "./receiver/telemetry.js";
export { secretFile, type SecretFile } from "./receiver/secrets/secret-file.js";
export type { SecretLookup, SecretsOption, SecretSource } from "./receiver/secrets/secrets.js";
export type { HeadersLike, RequestHeaders } from "./senders/engine/headers.js";
export type {
  HandshakeAnswer,
  ReadableDelivery,
  SampleDelivery,
  Sender,
  SenderHandshake,
  SenderLimits,
} from "./senders/engine/sender.js";
