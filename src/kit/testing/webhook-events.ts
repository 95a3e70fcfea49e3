import { randomBytes } from "node:crypto";
import type { TestEvent, VerificationEvent } from "../senders/signals/envelope.js";
import { withOverrides, type DeepPartial } from "./overrides.js";
import { readFixture } from "./read-fixture.js";

/** Any part of a test event. The other parts are filled in. */
export type TestEventOverrides = DeepPartial<TestEvent>;

/** Any part of a verification. The other parts are filled in. */
export type VerificationEventOverrides = DeepPartial<VerificationEvent>;

/**
 * Makes a `webhook.test` with a new id and the current time. A receiver hands it off to `onTest`.
 *
 * @throws SignalboxError `option_invalid`
 * @example
 * testEvent({ data: { message: "hello" } });
 */
export function testEvent(overrides?: TestEventOverrides): TestEvent {
  return withOverrides(
    "testEvent",
    sentNow(readFixture<TestEvent>("events/webhook.test")),
    overrides,
  );
}

/**
 * Makes a `webhook.verification` with a new id, a new challenge and the current time. A receiver
 * answers with the challenge and hands nothing off.
 *
 * @throws SignalboxError `option_invalid`
 * @example
 * const event = verificationEvent();
 * expect(JSON.parse((await deliver(event)).body)).toEqual({ challenge: event.data.challenge });
 */
export function verificationEvent(overrides?: VerificationEventOverrides): VerificationEvent {
  const event = sentNow(readFixture<VerificationEvent>("events/webhook.verification"));
  // Random, so that a receiver that always gives the same answer fails the test.
  event.data.challenge = randomBytes(24).toString("base64url");
  return withOverrides("verificationEvent", event, overrides);
}

function sentNow<Event extends { id: string; created_at: string }>(event: Event): Event {
  return {
    ...event,
    id: `evt_${randomBytes(8).toString("hex")}`,
    created_at: new Date().toISOString(),
  };
}
