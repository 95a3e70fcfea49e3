import { SignalboxError } from "../errors.js";
import { nearMiss } from "../options/near-miss.js";

/**
 * The parts that a test gives to `signalEvent` and its like. A property that the event has not is added, as the service may
 * add one; a near miss of one that it has is a slip, and would leave the fixture's value where the test believes its own.
 *
 * @param of the function that was called
 * @throws SignalboxError `option_invalid` for what is no object, `option_unknown` for a near miss
 */
export function assertOverrides(of: string, base: object, overrides: unknown, path: readonly string[] = []): void {
  if (overrides === undefined) return;
  if (!isGroup(overrides)) {
    const what = path.length === 0 ? `The overrides of ${of} are` : `The override "${path.join(".")}" of ${of} is`;
    throw new SignalboxError(
      "option_invalid",
      `${what} invalid: expected an object, not ${kindOf(overrides)}.`,
      "Give the parts of the event that the test needs; the rest is filled in.",
    );
  }
  const known = Object.keys(base);
  for (const [key, value] of Object.entries(overrides)) {
    const own: unknown = Object.hasOwn(base, key) ? (base as Record<string, unknown>)[key] : undefined;
    if (own === undefined) assertNoSlip(of, key, known, overrides, path);
    else if (isGroup(own)) assertOverrides(of, own, value, [...path, key]);
  }
}

function assertNoSlip(
  of: string,
  key: string,
  known: readonly string[],
  overrides: object,
  path: readonly string[],
): void {
  const meant = nearMiss(key, known);
  // Every short name is near to every other. And a slip stands in place of the right name, not beside it.
  if (meant === undefined || Math.min(meant.length, key.length) < 3 || meant in overrides) return;
  if (Math.abs(meant.length - key.length) > 2) return;
  throw new SignalboxError(
    "option_unknown",
    `A signal or event has no "${[...path, key].join(".")}", which ${of} was given.`,
    `Did you mean "${meant}"? To add a property with such a name, spread the event: { ...${of}(), … }.`,
  );
}

function isGroup(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "a list" : `a ${typeof value}`;
}
