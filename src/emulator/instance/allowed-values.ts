import { z } from "zod";

/** What an assumption can be. */
export interface AllowedValues<Value> {
  schema: z.ZodType<Value>;
  /** The same in words: an error says "expected" and this, and the README lists it. */
  text: string;
  /** The words that it is made of, where these are few: one of them is suggested for a slip. */
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

/** A number that counts, or names a day or an id. */
export function wholeNumber(least: number, most: number): AllowedValues<number> {
  return { schema: z.int().min(least).max(most), text: `a whole number from ${least} to ${most}`, words: [] };
}

/** A number, whole or not; without an upper bound where any size means something. */
export function numberFrom(least: number, most?: number): AllowedValues<number> {
  const atLeast = z.number().min(least);
  if (most === undefined) return { schema: atLeast, text: `a number of at least ${least}`, words: [] };
  return { schema: atLeast.max(most), text: `a number from ${least} to ${most}`, words: [] };
}

const LONGEST_NAME = 100;

/** A name that stands in an answer. */
export const NAME: AllowedValues<string> = {
  schema: z
    .string()
    .min(1)
    .max(LONGEST_NAME)
    .regex(/^\P{C}*$/u),
  text: `a text of 1 to ${LONGEST_NAME} characters`,
  words: [],
};

/** What can stand in a header. */
export const PRINTABLE: AllowedValues<string> = {
  schema: z
    .string()
    .max(LONGEST_NAME)
    .regex(/^[!-~](?:[ -~]*[!-~])?$/),
  text: `1 to ${LONGEST_NAME} printable ASCII characters, without blanks around them`,
  words: [],
};

/** Some of a few words, each once, in one text. */
export function listOf(words: readonly string[]): AllowedValues<string> {
  const areKnown = (items: readonly string[]): boolean =>
    items.every((item) => words.includes(item)) && new Set(items).size === items.length;
  return {
    schema: z.string().refine((text) => areKnown(itemsOf(text))),
    text: `any of ${words.join(", ")}, each once, with commas between, or nothing`,
    words,
  };
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
