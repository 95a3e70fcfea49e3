/** `signalbox/emulator`: the service of the document on this machine. */
export {
  createEmulator,
  type Emulator,
  type EmulatorControl,
  type EmulatorControlTable,
} from "./instance/create-emulator.js";
export type { AccountOptions, EmulatorOptions } from "./instance/options.js";
export type {
  AccountFeature,
  AccountInfo,
  ApiKeyInfo,
  RankingFeature,
} from "./access/create-access.js";
export type { AssumptionOptions, Assumptions } from "./instance/assumption-options.js";
export type { EmulatorEvent } from "./instance/events.js";
export type { RandomSource } from "./instance/random-source.js";
export { ENTITLEMENTS, TIERS, type Entitlement, type Tier } from "../contract/access.js";
export type {
  ControlMethods,
  ControlOperation,
  ControlTable,
} from "./control/control-operation.js";
export { ServiceError } from "./operations/service-error.js";
