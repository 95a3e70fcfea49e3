import { randomBytes } from "node:crypto";
import type { VerificationEvent } from "../events/envelope.js";
import { assertOverrides } from "./assert-overrides.js";
import { mergeOverrides, type DeepPartial } from "./merge-overrides.js";
import { readFixture } from "./read-fixture.js";
import { renewEvent } from "./renew-event.js";

/** Any part of a verification; what is left out is filled in. */
export type VerificationEventOverrides = DeepPartial<VerificationEvent>;

/**
 * A `webhook.verification` as the service would send it now, with an id and a challenge of its own. The receiver answers
 * it with the challenge and hands nothing off.
 *
 * @throws SignalboxError `option_invalid`, `option_unknown`
 * @example
 * const event = verificationEvent();
 * expect(JSON.parse((await deliver(event)).body)).toEqual({ challenge: event.data.challenge });
 */
export function verificationEvent(overrides: VerificationEventOverrides = {}): VerificationEvent {
  const event = renewEvent(readFixture<VerificationEvent>("events/webhook.verification"));
  assertOverrides("verificationEvent", event, overrides);
  // A receiver that always answers the same must not pass.
  const challenge = randomBytes(24).toString("base64url");
  return mergeOverrides({ ...event, data: { ...event.data, challenge } }, overrides);
}
