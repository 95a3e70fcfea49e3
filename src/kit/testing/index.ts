export { createManualClock, type ManualClock } from "./manual-clock.js";
export type { DeepPartial } from "./signal-event.js";
export { signalEvent, type SignalEventOverrides } from "./signal-event.js";
export {
  signedDelivery,
  type SignedDelivery,
  type SignedDeliveryOptions,
} from "./signed-delivery.js";
export {
  testReceiver,
  type TestReceiver,
  type TestReceiverOptions,
  type TestSenderReceiverOptions,
} from "./test-receiver.js";
export { waitForEvent, type WaitForEventOptions } from "./wait-for-event.js";
export {
  testEvent,
  verificationEvent,
  type TestEventOverrides,
  type VerificationEventOverrides,
} from "./signal-event.js";
