import { randomInt, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SignalboxError } from "../../base/errors.js";
import { nearMiss } from "../../base/options/option-error.js";
import { DAY_MS } from "../../base/time/units.js";
import type { SignalEvent, TestEvent, VerificationEvent } from "../senders/signals/envelope.js";
import {
  isKnownSignalType,
  SIGNAL_TYPES,
  type KnownSignalType,
  type SignalType,
} from "../senders/signals/signal-types.js";

/** Any part of a signal. The other parts are filled in. */
export type SignalEventOverrides = DeepPartial<SignalEvent>;

const DEFAULT_TYPE: KnownSignalType = "traffic_breakout";

/** Starts at a random number, because test processes may share a database. */
let lastSignalId = randomInt(2 ** 40);

/**
 * Makes a valid signal with a new id and current times, from the package's fixture of its type.
 * Overrides are merged in at any depth. Unless the id is given, it is made of `signal_id` and
 * `product.id`. An unknown type gets the data of a `traffic_breakout`. If it looks like a misspelt
 * known type, it is refused, unless it is given as `data.signal_type`.
 *
 * @param type one of `SIGNAL_TYPES` or a new type. @default `data.signal_type` of the overrides,
 * else `traffic_breakout`
 * @throws SignalboxError `option_invalid`, `option_unknown`
 * @example
 * signalEvent("price_increased", { data: { product: { slug: "acme" } } });
 * signalEvent({ data: { title: "Acme is gone" } });
 */
export function signalEvent(type: SignalType, overrides?: SignalEventOverrides): SignalEvent;
export function signalEvent(overrides?: SignalEventOverrides): SignalEvent;
export function signalEvent(
  first?: SignalType | SignalEventOverrides,
  second?: SignalEventOverrides,
): SignalEvent {
  if (typeof first === "string") assertNotMisspelt(first);
  const overrides = typeof first === "string" || first === undefined ? second : first;
  const type = typeof first === "string" ? first : (overrides?.data?.signal_type ?? DEFAULT_TYPE);
  const fixture = readFixture<SignalEvent>(
    `signals/${isKnownSignalType(type) ? type : DEFAULT_TYPE}`,
  );
  const now = Date.now();
  const data = shiftTimes(fixture.data, now - Date.parse(fixture.created_at));
  lastSignalId += 1;
  const base: SignalEvent = {
    ...fixture,
    created_at: new Date(now).toISOString(),
    data: { ...data, signal_type: type, signal_id: lastSignalId },
  };
  const event = withOverrides("signalEvent", base, overrides);
  return { ...event, id: overrides?.id ?? `sig_${event.data.signal_id}_${event.data.product.id}` };
}

/**
 * Refuses a misspelt type, because a test with `price_increasd` would run the handler's code for
 * unknown types.
 */
function assertNotMisspelt(type: string): void {
  if (isKnownSignalType(type)) return;
  const meant = nearMiss(type, SIGNAL_TYPES);
  if (meant === undefined || Math.abs(meant.length - type.length) > 2) return;
  // The service may add `…_top_50` beside `…_top_20`.
  if (type.replaceAll(/\d+/g, "") === meant.replaceAll(/\d+/g, "")) return;
  throw new SignalboxError(
    "option_unknown",
    `There is no signal type "${type}".`,
    `Did you mean "${meant}"? If the type is new, use signalEvent({ data: { signal_type: "${type}" } }).`,
  );
}

/** Any part of a test event. The other parts are filled in. */
export type TestEventOverrides = DeepPartial<TestEvent>;

/** Any part of a verification. The other parts are filled in. */
export type VerificationEventOverrides = DeepPartial<VerificationEvent>;

/**
 * Makes a `webhook.test` with a new id and the current time. A receiver hands it off to `onTest`.
 *
 * @throws SignalboxError `option_invalid`
 * @example
 * testEvent({ data: { message: "hello" } });
 */
export function testEvent(overrides?: TestEventOverrides): TestEvent {
  return withOverrides(
    "testEvent",
    sentNow(readFixture<TestEvent>("events/webhook.test")),
    overrides,
  );
}

/**
 * Makes a `webhook.verification` with a new id, a new challenge and the current time. A receiver
 * answers with the challenge and hands nothing off.
 *
 * @throws SignalboxError `option_invalid`
 * @example
 * const event = verificationEvent();
 * expect(JSON.parse((await deliver(event)).body)).toEqual({ challenge: event.data.challenge });
 */
export function verificationEvent(overrides?: VerificationEventOverrides): VerificationEvent {
  const event = sentNow(readFixture<VerificationEvent>("events/webhook.verification"));
  // Random, so that a receiver that always gives the same answer fails the test.
  event.data.challenge = randomBytes(24).toString("base64url");
  return withOverrides("verificationEvent", event, overrides);
}

function sentNow<Event extends { id: string; created_at: string }>(event: Event): Event {
  return {
    ...event,
    id: `evt_${randomBytes(8).toString("hex")}`,
    created_at: new Date().toISOString(),
  };
}

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
function withOverrides<Event extends object>(
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

type JsonObject = Record<string, unknown>;

/**
 * Shifts the times of a signal's data, and its period by whole days, so that their order stays the
 * same. Missing and invalid times are not changed.
 */
export function shiftTimes<Data extends JsonObject>(data: Data, shiftMs: number): Data {
  const shifted: JsonObject = { ...data };
  for (const name of ["observed_at", "published_at"]) {
    const time = timeOf(data[name]);
    if (time !== null) shifted[name] = new Date(time + shiftMs).toISOString();
  }
  const { period } = data;
  if (typeof period === "object" && period !== null && !Array.isArray(period)) {
    const shiftDays = Math.floor(shiftMs / DAY_MS);
    const dates = Object.entries(period).map(([name, value]) => [
      name,
      shiftDate(value, shiftDays),
    ]);
    shifted["period"] = Object.fromEntries(dates) as JsonObject;
  }
  return shifted as Data;
}

/** @returns milliseconds since 1970; null for a value that is not a time */
export function timeOf(value: unknown): number | null {
  const time = typeof value === "string" ? Date.parse(value) : NaN;
  return Number.isNaN(time) ? null : time;
}

function shiftDate(value: unknown, days: number): unknown {
  if (typeof value !== "string" || !/^\d{4}-\d\d-\d\d$/.test(value)) return value;
  const time = timeOf(value);
  return time === null ? value : new Date(time + days * DAY_MS).toISOString().slice(0, 10);
}

const texts = new Map<string, string>();

/**
 * Reads an event of the package's fixtures. Each call returns a new copy. @param name the path
 * without `.json`
 */
export function readFixture<Event>(name: string): Event {
  // The relative path is the same from `src/testing` and `dist/testing`.
  const path = join(import.meta.dirname, "../../../fixtures", `${name}.json`);
  const text = texts.get(name) ?? readFileSync(path, "utf8");
  texts.set(name, text);
  return JSON.parse(text) as Event;
}
