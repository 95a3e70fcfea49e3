import { expectTypeOf, test } from "vitest";
import type {
  Handoff,
  PermanentFailure,
  Receiver,
  ReceiverEventMap,
  ReceiverOptions,
  RetryLater,
  Signal,
  StoredEvent,
  TestEvent,
  VerificationEvent,
} from "../../src/kit/index.js";
import type { SqliteStoreOptions } from "../../src/kit/stores/sqlite/sqlite-store.js";
import type { SignalEventOverrides, testEvent } from "../../src/kit/testing/index.js";
import type {
  Client,
  InvestigationReport,
  InvestigationTask,
  KeywordDetail,
  NewRegistration,
  ProductProfile,
  Quota,
  RankingsResponse,
  SearchDemandResponse,
} from "../../src/service/client/index.js";
import type { OpenParts } from "./open-parts.js";

// Held by `tsc -p test`.

test("a misspelt name of an event, of a hand-off and of what a receiver tells does not compile", () => {
  expectTypeOf<OpenParts<Signal | TestEvent | VerificationEvent>>().toBeNever();
  expectTypeOf<OpenParts<Omit<Handoff, "headers">>>().toBeNever();
  expectTypeOf<OpenParts<ReceiverEventMap>>().toBeNever();
  // Headers have the names that the sender gives them.
  expectTypeOf<OpenParts<StoredEvent>>().toEqualTypeOf<".received.headers">();
});

test("a misspelt option does not compile, at every level", () => {
  type Own = Omit<ReceiverOptions, "store" | "telemetry" | "onSignal" | "onTest">;
  // Headers have the names that the sender gives them.
  expectTypeOf<OpenParts<Own | SqliteStoreOptions>>().toEqualTypeOf<
    ".order.by().headers" | ".tenant().headers"
  >();
  expectTypeOf<OpenParts<Parameters<Receiver["close"] | Receiver["drain"]>>>().toBeNever();
  type Inbox = Receiver["inbox"];
  type OfInbox = Parameters<Inbox["list" | "search" | "replay" | "discard" | "activity"]>;
  expectTypeOf<OpenParts<OfInbox>>().toBeNever();
  type OfFailures = ConstructorParameters<typeof RetryLater | typeof PermanentFailure>;
  expectTypeOf<OpenParts<OfFailures>>().toBeNever();
  expectTypeOf<OpenParts<SignalEventOverrides | Parameters<typeof testEvent>>>().toBeNever();
});

test("a misspelt parameter of a call of the client, or field of its answer, does not compile", () => {
  type Calls = { [Name in keyof Client]: Parameters<Client[Name]> }[keyof Client];
  // The task that is told of progress has the report below.
  expectTypeOf<Exclude<OpenParts<Calls>, `.onProgress().report${string}`>>().toBeNever();
  type Answers = SearchDemandResponse | KeywordDetail | ProductProfile | NewRegistration | Quota;
  expectTypeOf<OpenParts<Answers>>().toEqualTypeOf<".categories">();
  expectTypeOf<OpenParts<RankingsResponse>>().toEqualTypeOf<
    ".category" | ".dataset" | ".filters"
  >();
  expectTypeOf<OpenParts<Omit<InvestigationTask, "report">>>().toBeNever();
});

test("the parts of a report that the service's document leaves open are read as unknown", () => {
  expectTypeOf<OpenParts<InvestigationReport>>().toEqualTypeOf<
    ".context_leads" | ".sources" | ".strategies" | ".timeline"
  >();
  const read = ({ timeline }: InvestigationReport) => timeline[0]?.["action"];
  expectTypeOf(read).returns.toBeUnknown();
});
