import { randomBytes } from "node:crypto";
import type { Tier } from "../../../api/access.js";

/** An account that a new database begins with. */
export interface DemoAccount {
  name: string;
  tier: Tier;
  key: string;
}

/** One with everything, and one with the limits of Developer Access. Their keys are new each time. */
export function demoAccounts(): DemoAccount[] {
  return [
    { name: "Pro", tier: "pro", key: newKey() },
    { name: "Developer Access", tier: "developer", key: newKey() },
  ];
}

const newKey = (): string => `sbk_${randomBytes(32).toString("base64url")}`;
