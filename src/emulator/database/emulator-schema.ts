import { ACCESS_SCHEMA } from "../access/access-schema.js";
import { MARKET_SCHEMA } from "../market/market-schema.js";
import { OPERATION_FAULT_SCHEMA } from "../operations/operation-faults.js";
import { INVESTIGATION_SCHEMA } from "../investigations/investigation-row.js";
import { WEBHOOK_SCHEMA } from "../webhooks/webhook-schema.js";
import { SETTINGS_SCHEMA } from "./settings.js";

/** The tables of all parts. */
export const EMULATOR_SCHEMA = [
  SETTINGS_SCHEMA,
  ACCESS_SCHEMA,
  OPERATION_FAULT_SCHEMA,
  MARKET_SCHEMA,
  INVESTIGATION_SCHEMA,
  WEBHOOK_SCHEMA,
].join("\n");
