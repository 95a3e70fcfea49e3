import { DAY_MS } from "../../base/time/units.js";

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
