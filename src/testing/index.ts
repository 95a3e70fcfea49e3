export { createManualClock, type ManualClock } from "./manual-clock.js";
export { signalEvent, type SignalEventOverrides } from "./signal-event.js";
export { signedDelivery, type SignedDelivery, type SignedDeliveryOptions } from "./signed-delivery.js";
export { storeContract, type ContractCase, type ContractMedium } from "./store-contract.js";
