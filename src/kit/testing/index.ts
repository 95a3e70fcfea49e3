export { createManualClock, type ManualClock } from "./manual-clock.js";
export {
  signalEvent,
  testEvent,
  verificationEvent,
  type DeepPartial,
  type SignalEventOverrides,
  type TestEventOverrides,
  type VerificationEventOverrides,
} from "./signal-event.js";
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
