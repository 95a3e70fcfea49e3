/** The service, local: `signalbox/emulator`. */
export { createEmulator } from "./create-emulator.js";
export type { Emulator, EmulatorControl, EmulatorControlTable } from "./create-emulator.js";
export type { AccountOptions, EmulatorOptions } from "./emulator-options.js";
export type { AccountFeature, RankingFeature } from "./access/account-view.js";
export type { AccountInfo } from "./access/accounts.js";
export type { ApiKeyInfo } from "./access/api-keys.js";
export { ASSUMPTIONS } from "./assumptions.js";
export { FIXED_ASSUMPTIONS } from "./fixed-assumptions.js";
export type { FixedAssumption } from "./fixed-assumptions.js";
export type { AllowedValues } from "./allowed-values.js";
export type { Assumption } from "./assumption.js";
export type { Assumptions } from "./assumptions.js";
export type { AssumptionOptions } from "./assumption-options.js";
export type { RandomSource } from "./random-source.js";
export { ENTITLEMENTS, TIERS, type Entitlement, type Tier } from "../api/tiers.js";
export type { ControlMethods, ControlOperation, ControlTable } from "./control/control-operation.js";
export { ServiceError } from "./service-error.js";
