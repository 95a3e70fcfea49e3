import { z } from "zod";
import type { Clock } from "../time/clock.js";
import { LONGEST_DELAY_MS } from "../time/units.js";

export const millisecondsOption = z.int().min(1).max(LONGEST_DELAY_MS);

export function functionOption<Callback>(): z.ZodType<Callback, Callback> {
  return z.custom<Callback>((value) => typeof value === "function", "expected a function");
}

/** Accepts objects that have these methods. */
export function objectOption<Type>(
  what: string,
  ...methods: readonly string[]
): z.ZodType<Type, Type> {
  return z.custom<Type>(
    (value) =>
      typeof value === "object" &&
      value !== null &&
      !Array.isArray(value) &&
      methods.every((method) => typeof Reflect.get(value, method) === "function"),
    `expected ${what}`,
  );
}

export const clockOption = objectOption<Clock>("a clock", "now", "elapsed", "setTimeout");
