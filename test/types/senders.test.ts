import type {
  EventPayloadMap,
  IssuesEvent,
  IssuesOpenedEvent,
  PushEvent,
} from "@octokit/webhooks-types";
import type Stripe from "stripe";
import { expectTypeOf, test } from "vitest";
import { createReceiver, type Handoff, type TestEvent } from "../../src/kit/index.js";
import { defineSender } from "../../src/kit/senders/engine/define-sender.js";
import * as makers from "../../src/kit/senders/index.js";
import type { EventsByType, Sender } from "../../src/kit/senders/engine/sender.js";
import { memoryStore } from "../../src/kit/stores/memory.js";
import { testReceiver } from "../../src/kit/testing/index.js";

// Held by `tsc -p test`, against the senders' own types: the functions below are never called.
const base = { secrets: "whsec_types", store: memoryStore() };
const typed = (check: () => void): void => {
  expectTypeOf(check).toBeFunction();
};
declare const stripe: Sender<EventsByType<Stripe.Event>>;
declare const github: Sender<EventPayloadMap>;
const acme = defineSender({
  name: "acme",
  signature: { header: "x-acme-signature" },
  read: ({ json }) => ({ id: json.id, type: json.type }),
});

test("a map of functions narrows the event of each to its type", () => {
  typed(() => {
    createReceiver({
      ...base,
      sender: stripe,
      onEvent: {
        "invoice.paid": (event, handoff) => {
          expectTypeOf(event).toEqualTypeOf<Stripe.InvoicePaidEvent>();
          expectTypeOf(handoff).toEqualTypeOf<Handoff>();
        },
        "charge.dispute.*": (event) =>
          expectTypeOf(event.data.object).toEqualTypeOf<Stripe.Dispute>(),
        "charge.*": (event) => expectTypeOf(event.type).toExtend<`charge.${string}`>(),
        "*": (event) => expectTypeOf(event).toEqualTypeOf<Stripe.Event>(),
      },
    });
    createReceiver({
      ...base,
      sender: github,
      onEvent: {
        push: (event) => expectTypeOf(event).toEqualTypeOf<PushEvent>(),
        "issues.opened": (event) => expectTypeOf(event).toEqualTypeOf<IssuesOpenedEvent>(),
        "issues.*": (event) => expectTypeOf(event).toEqualTypeOf<IssuesEvent>(),
      },
    });
  });
});

test("one function gets any event of the sender", () => {
  typed(() => {
    createReceiver({
      ...base,
      sender: stripe,
      onEvent(event) {
        if (event.type === "invoice.paid")
          expectTypeOf(event).toEqualTypeOf<Stripe.InvoicePaidEvent>();
      },
    });
    createReceiver({
      ...base,
      sender: acme,
      onEvent: { anything: (event) => expectTypeOf(event).toBeUnknown() },
    });
  });
});

test("a receiver for tests has the types of a receiver", () => {
  // A function beside `onEvent`, and one that returns what needs its parameter, made the compiler
  // choose the wrong overload.
  typed(() => {
    const handoff = { backoff: (attempt: number) => attempt * 1000 };
    void testReceiver({
      sender: stripe,
      handoff: { backoff: (attempt) => attempt * 1000 },
      onEvent: {
        "invoice.paid": (event, { attempt }) => {
          expectTypeOf(event).toEqualTypeOf<Stripe.InvoicePaidEvent>();
          expectTypeOf(attempt).toBeNumber();
        },
        "*": (event) => expectTypeOf(event).toEqualTypeOf<Stripe.Event>(),
      },
    });
    void testReceiver({ onEvent: { push: (event) => event.ref }, sender: github });
    const any = (event: Stripe.Event): void => void event.id;
    void testReceiver({ sender: stripe, handoff, onEvent: any });
    void testReceiver({ sender: acme });
    const onTest = (event: TestEvent): void => void event.data.message;
    void testReceiver({ handoff, onSignal: (signal) => void signal.data.title, onTest });
    // @ts-expect-error Stripe has no such type
    void testReceiver({ sender: stripe, onEvent: { "invoice.payed": () => {} } });
    // @ts-expect-error a receiver with a sender has onEvent
    void testReceiver({ sender: stripe, onSignal: () => {} });
    // @ts-expect-error without a sender there is no onEvent
    void testReceiver({ onEvent: () => {} });
  });
});

test("the function that chooses the subject gets the sender's events", () => {
  typed(() => {
    const sender = makers.stripe({ subject: (event) => event.data.object["customer"] });
    createReceiver({ ...base, sender, onEvent: {} });
    createReceiver({
      ...base,
      sender: makers.stripe<Stripe.Event>({
        subject: (event) => (event.type === "invoice.paid" ? event.data.object.customer : null),
      }),
      onEvent: { "invoice.paid": (event) => event.data.object.customer },
    });
    makers.github<EventPayloadMap>({
      subject: (event) => "issue" in event && expectTypeOf(event).toExtend<{ issue: object }>(),
    });
    makers.gitlab({ token: true, subject: ({ project }) => project?.path_with_namespace });
    // @ts-expect-error a payload has no such property
    makers.slack<{ team: string }>({ subject: ({ teem }) => teem });
  });
});

test("a misspelt type, and a callback of another kind, do not compile", () => {
  typed(() => {
    // @ts-expect-error Stripe has no such type
    createReceiver({ ...base, sender: stripe, onEvent: { "invoice.payed": () => {} } });
    // @ts-expect-error GitHub has no such action
    createReceiver({ ...base, sender: github, onEvent: { "issues.opend": () => {} } });
    // @ts-expect-error a receiver with a sender has onEvent
    createReceiver({ ...base, sender: stripe, onSignal: () => {} });
    // @ts-expect-error without a sender there is no onEvent
    createReceiver({ ...base, onEvent: () => {} });
  });
});
