import { randomBytes, randomInt } from "node:crypto";
import { parseJson } from "../../base/text/parse-json.js";
import { shiftTimes, timeOf } from "../../kit/testing/shift-times.js";

type JsonObject = Record<string, unknown>;

/**
 * Makes an event look as if it happened now: a new id, `created_at` now, and the other times of a
 * signal shifted by the same duration (its period by whole days). Missing and invalid values are
 * not repaired, because fixtures may be invalid on purpose.
 */
export function restamp(event: JsonObject, now: number): JsonObject {
  const createdAt = timeOf(event["created_at"]);
  const shiftMs = createdAt === null ? 0 : now - createdAt;
  const stamped: JsonObject = { ...event };
  if ("created_at" in event) stamped["created_at"] = new Date(now).toISOString();
  const { data } = event;
  if (!isJsonObject(data) || !("signal_id" in data)) return { ...stamped, id: uniqueEventId() };
  stamped["data"] = shiftTimes({ ...data, signal_id: uniqueInteger() }, shiftMs);
  return withSignalId(stamped);
}

/** Sets the id to the service's form for signals: `sig_<signal_id>_<product_id>`. */
export function withSignalId(event: JsonObject): JsonObject {
  const { data } = event;
  if (!isJsonObject(data) || typeof data["signal_id"] !== "number") return event;
  const { product } = data;
  const productId = isJsonObject(product) ? product["id"] : undefined;
  return {
    ...event,
    id: `sig_${data["signal_id"]}_${typeof productId === "number" ? productId : 0}`,
  };
}

/** @returns null for bytes that are not a JSON object */
export function jsonObjectIn(bytes: Buffer): JsonObject | null {
  const json = parseJson(bytes);
  return json.ok && isJsonObject(json.value) ? json.value : null;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * A positive integer of 53 random bits. A number made from the time could repeat when two runs
 * begin together.
 */
export function uniqueInteger(): number {
  return randomInt(1, 2 ** 26) * 2 ** 27 + randomInt(2 ** 27);
}

/** An id in the service's form for events other than signals. */
export function uniqueEventId(): string {
  return `evt_${randomBytes(8).toString("hex")}`;
}
