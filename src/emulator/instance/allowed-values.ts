import { z } from "zod";

/** The values that an assumption can have. */
export interface AllowedValues<Value> {
  schema: z.ZodType<Value>;
  /** A description for docs/emulator.md and for errors, which say "expected" and this text. */
  text: string;
}

export function oneOf<const Value extends string>(...values: [Value, ...Value[]]): AllowedValues<Value> {
  return { schema: z.literal(values), text: `one of ${values.join(", ")}` };
}

export const TRUE_OR_FALSE: AllowedValues<boolean> = { schema: z.boolean(), text: "true or false" };

export function wholeNumber(least: number, most: number): AllowedValues<number> {
  return { schema: z.int().min(least).max(most), text: `a whole number from ${least} to ${most}` };
}

export function listOfSeconds(most: number): AllowedValues<string> {
  const isAllowed = (item: string): boolean => /^\d+(\.\d+)?$/.test(item) && Number(item) <= most;
  return {
    schema: z.string().refine((text) => itemsOf(text).every(isAllowed)),
    text: `numbers of seconds from 0 to ${most}, separated by commas, or an empty text`,
  };
}

/** Splits a comma-separated list. An empty text has no items. */
export function itemsOf(text: string): string[] {
  return text === "" ? [] : text.split(",");
}
