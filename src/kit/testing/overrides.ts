import { SignalboxError } from "../../base/errors.js";

/** Any part of a value, however deep. */
export type DeepPartial<Value> = unknown extends Value
  ? Value
  : Value extends readonly unknown[] | string | number | boolean | null
    ? Value
    : { [Key in keyof Value]?: DeepPartial<Value[Key]> };

/**
 * Merges the overrides of a test into an event. Objects are merged, other values are replaced, and
 * new properties are added. An override that is `undefined` is ignored: the event keeps its own
 * value.
 *
 * @param caller the name of the called function, for the error
 * @param path where in the event this part of it is
 * @throws SignalboxError `option_invalid` for an override that must be an object
 */
export function withOverrides<Event extends object>(
  caller: string,
  event: Event,
  overrides: NoInfer<DeepPartial<Event>> | undefined,
  path: readonly string[] = [],
): Event {
  if (overrides === undefined) return event;
  if (!isGroup(overrides)) {
    const what =
      path.length === 0
        ? `The overrides of ${caller} are`
        : `The override "${path.join(".")}" of ${caller} is`;
    const kind =
      overrides === null ? "null" : Array.isArray(overrides) ? "a list" : `a ${typeof overrides}`;
    const help = "Pass the parts of the event that the test needs; the other parts are filled in.";
    throw new SignalboxError(
      "option_invalid",
      `${what} invalid: expected an object, not ${kind}.`,
      help,
    );
  }
  const merged: Record<string, unknown> = { ...(event as object) };
  for (const [key, value] of Object.entries(overrides)) {
    const own = merged[key];
    if (isGroup(own))
      merged[key] = withOverrides(caller, own, value as typeof own | undefined, [...path, key]);
    else if (value !== undefined) merged[key] = value;
  }
  return merged as Event;
}

function isGroup(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
