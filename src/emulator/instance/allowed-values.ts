import { z } from "zod";

/** The values that an assumption can have. */
export interface AllowedValues<Value> {
  schema: z.ZodType<Value>;
  /** The same in words: an error says "expected" and this text, and the README lists it. */
  text: string;
  /** The values as words where there are few: an error suggests the nearest one. */
  words: readonly string[];
}

/** One of a few values. */
export function oneOf<const Value extends string | number>(...values: [Value, ...Value[]]): AllowedValues<Value> {
  const words = values.map(String);
  return { schema: z.literal(values), text: `one of ${words.join(", ")}`, words };
}

/** A switch. */
export const TRUE_OR_FALSE: AllowedValues<boolean> = {
  schema: z.boolean(),
  text: "true or false",
  words: ["true", "false"],
};

/** A number that counts, or that names a day or an id. */
export function wholeNumber(least: number, most: number): AllowedValues<number> {
  return { schema: z.int().min(least).max(most), text: `a whole number from ${least} to ${most}`, words: [] };
}

/** A number, whole or not. */
export function numberFrom(least: number, most: number): AllowedValues<number> {
  return { schema: z.number().min(least).max(most), text: `a number from ${least} to ${most}`, words: [] };
}

/** Times to wait, in one text. */
export function listOfSeconds(most: number): AllowedValues<string> {
  const isTime = (item: string): boolean => /^\d+(\.\d+)?$/.test(item) && Number(item) <= most;
  return {
    schema: z.string().refine((text) => itemsOf(text).every(isTime)),
    text: `seconds from 0 to ${most}, with commas between them, or an empty text`,
    words: [],
  };
}

/** The items of a text that is a list; none of an empty one. */
export function itemsOf(text: string): string[] {
  return text === "" ? [] : text.split(",");
}
