import { randomBytes } from "node:crypto";
import type { TestEvent, VerificationEvent } from "../events/envelope.js";
import { withOverrides, type DeepPartial } from "./overrides.js";
import { readFixture } from "./read-fixture.js";

/** Any part of a test event; what is left out is filled in. */
export type TestEventOverrides = DeepPartial<TestEvent>;

/** Any part of a verification; what is left out is filled in. */
export type VerificationEventOverrides = DeepPartial<VerificationEvent>;

/**
 * A `webhook.test` as the service would send it now, with an id of its own. It goes to `onTest`.
 *
 * @throws SignalboxError `option_invalid`, `option_unknown`
 * @example
 * testEvent({ data: { message: "hello" } });
 */
export function testEvent(overrides?: TestEventOverrides): TestEvent {
  return withOverrides("testEvent", sentNow(readFixture<TestEvent>("events/webhook.test")), overrides);
}

/**
 * A `webhook.verification` as the service would send it now, with an id and a challenge of its own. The receiver answers
 * it with the challenge and hands nothing off.
 *
 * @throws SignalboxError `option_invalid`, `option_unknown`
 * @example
 * const event = verificationEvent();
 * expect(JSON.parse((await deliver(event)).body)).toEqual({ challenge: event.data.challenge });
 */
export function verificationEvent(overrides?: VerificationEventOverrides): VerificationEvent {
  const event = sentNow(readFixture<VerificationEvent>("events/webhook.verification"));
  // A receiver that always gives the same answer must not pass.
  event.data.challenge = randomBytes(24).toString("base64url");
  return withOverrides("verificationEvent", event, overrides);
}

function sentNow<Event extends { id: string; created_at: string }>(event: Event): Event {
  return { ...event, id: `evt_${randomBytes(8).toString("hex")}`, created_at: new Date().toISOString() };
}
