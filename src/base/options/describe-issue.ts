import type { z } from "zod";

/**
 * The beginnings of zod's default texts. Other texts were written with the schema, and are more
 * specific.
 */
const DEFAULT_TEXT = /^(Invalid|Too (small|big):|Unrecognized)/;

/** Says what a value must be, without repeating the value. */
export function describeIssue(issue: z.core.$ZodIssue): string {
  if (!DEFAULT_TEXT.test(issue.message)) return issue.message;
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- `default` covers the rest
  switch (issue.code) {
    case "invalid_type":
      return `must be ${withArticle(issue.expected)}`;
    case "too_small":
      return sizeWords("at least", issue.minimum, issue.origin);
    case "too_big":
      return sizeWords("at most", issue.maximum, issue.origin);
    case "invalid_value":
      return `must be ${oneOf(issue.values)}`;
    case "invalid_format":
      return issue.format === "regex"
        ? `must match ${issue.pattern}`
        : `must be ${FORMATS.get(issue.format) ?? `a ${issue.format.toUpperCase()}`}`;
    case "invalid_union":
      return unionWords(issue);
    default:
      return "is not valid";
  }
}

/** Formats that need an example. */
const FORMATS: ReadonlyMap<string, string> = new Map([
  ["url", "an address such as https://receiver.example/signals"],
  ["datetime", "a time with Z or an offset, such as 2026-11-01T09:00:00Z"],
  ["date", "a day of the calendar, such as 2026-11-01"],
]);

/**
 * Lists the values of the key by which a union's branches differ; if there is none, describes the
 * last, most specific branch.
 */
function unionWords(issue: z.core.$ZodIssueInvalidUnion): string {
  if ("options" in issue && Array.isArray(issue.options)) return `must be ${oneOf(issue.options)}`;
  const last = issue.errors.at(-1)?.[0];
  return last === undefined ? "is not valid" : describeIssue(last);
}

const oneOf = (values: readonly unknown[]): string =>
  `${values.length === 1 ? "" : "one of "}${values.join(", ")}`;

function sizeWords(bound: string, size: number | bigint, origin: string): string {
  if (origin === "string") return `must have ${bound} ${size} character${size === 1 ? "" : "s"}`;
  if (origin === "array") return `must have ${bound} ${size} item${size === 1 ? "" : "s"}`;
  return `must be ${bound} ${size}`;
}

function withArticle(expected: string): string {
  if (expected === "int") return "a whole number";
  if (expected === "string") return "a text";
  if (expected === "boolean") return "true or false";
  if (expected === "array") return "a list";
  return `${/^[aeiou]/.test(expected) ? "an" : "a"} ${expected}`;
}
