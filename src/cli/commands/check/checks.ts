import { ADVISED_CHECKS } from "./advised-checks.js";
import type { Check } from "./check.js";
import { REQUIRED_CHECKS } from "./required-checks.js";

/** All checks, in the order in which they run. */
export const CHECKS: readonly Check[] = [...REQUIRED_CHECKS, ...ADVISED_CHECKS];
