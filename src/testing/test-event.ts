import type { TestEvent } from "../events/envelope.js";
import { assertOverrides } from "./assert-overrides.js";
import { mergeOverrides, type DeepPartial } from "./merge-overrides.js";
import { readFixture } from "./read-fixture.js";
import { renewEvent } from "./renew-event.js";

/** Any part of a test event; what is left out is filled in. */
export type TestEventOverrides = DeepPartial<TestEvent>;

/**
 * A `webhook.test` as the service would send it now, with an id of its own. It goes to `onTest`.
 *
 * @throws SignalboxError `option_invalid`, `option_unknown`
 * @example
 * testEvent({ data: { message: "hello" } });
 */
export function testEvent(overrides: TestEventOverrides = {}): TestEvent {
  const event = renewEvent(readFixture<TestEvent>("events/webhook.test"));
  assertOverrides("testEvent", event, overrides);
  return mergeOverrides(event, overrides);
}
