import { SignalboxError } from "../errors.js";
import { nearMiss } from "../options/near-miss.js";

/** Any part of a value, however deep. */
export type DeepPartial<Value> = unknown extends Value
  ? Value
  : Value extends readonly unknown[] | string | number | boolean | null
    ? Value
    : { [Key in keyof Value]?: DeepPartial<Value[Key]> };

/**
 * The event with the parts that a test gives. Objects are merged, everything else is replaced, and `undefined` means absent.
 * A property that the event does not have is added, as the service may add one. A near miss of one that it has is refused:
 * it would leave the fixture's value where the test believes its own.
 *
 * @param of the function that was called
 * @throws SignalboxError `option_invalid` for what is no object, `option_unknown` for a near miss
 */
export function withOverrides<Event extends object>(
  of: string,
  event: Event,
  overrides: NoInfer<DeepPartial<Event>> | undefined,
): Event {
  return merge(of, event, overrides, []) as Event;
}

function merge(of: string, base: object, overrides: unknown, path: readonly string[]): object {
  if (overrides === undefined) return base;
  if (!isGroup(overrides)) throw notAnObject(of, overrides, path);
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(overrides)) {
    const own = merged[key];
    if (own === undefined) assertNoSlip(of, key, Object.keys(base), overrides, path);
    if (isGroup(own)) merged[key] = merge(of, own, value, [...path, key]);
    else if (value !== undefined) merged[key] = value;
  }
  return merged;
}

function notAnObject(of: string, given: unknown, path: readonly string[]): SignalboxError {
  const what = path.length === 0 ? `The overrides of ${of} are` : `The override "${path.join(".")}" of ${of} is`;
  const kind = given === null ? "null" : Array.isArray(given) ? "a list" : `a ${typeof given}`;
  const help = "Give the parts of the event that the test needs; the rest is filled in.";
  return new SignalboxError("option_invalid", `${what} invalid: expected an object, not ${kind}.`, help);
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
