import { ASSUMPTIONS, type Assumptions } from "../../../../src/emulator/instance/assumptions.js";

export function defaultAssumptions(): Assumptions {
  const entries = Object.entries(ASSUMPTIONS).map(([name, assumption]) => [name, assumption.default]);
  return Object.fromEntries(entries) as Assumptions;
}
