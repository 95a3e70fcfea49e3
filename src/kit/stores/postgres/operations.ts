import type { InboxStore } from "../../inbox/store.js";
import { createChanges } from "./changes.js";
import type { Run } from "./connection.js";
import { createQueries } from "./queries.js";
import { createTrouble } from "./trouble.js";

/** The operations of the port that queries are, all beside the path of a delivery. */
export const OPERATIONS = [
  "list",
  "endpoints",
  "get",
  "stats",
  "failing",
  "bodyHashes",
  "hasReceiver",
  "saveReport",
  "reports",
  "alarms",
  "setAlarm",
  "replay",
  "retryNow",
  "discard",
  "erase",
  "unblock",
  "tendLanes",
  "prune",
  "payloadSizes",
] as const;

export type Operations = Pick<InboxStore, (typeof OPERATIONS)[number]>;

/**
 * @param name the schema, quoted
 * @param operator for a tool
 */
export function createOperations(run: Run, name: string, operator: boolean): Operations {
  return {
    ...createQueries(run, name),
    ...createTrouble(run, name),
    ...createChanges(run, name, operator),
  };
}
