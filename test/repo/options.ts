import { expect } from "vitest";
import { errorOf } from "../unit/signalbox-error-of.js";

/** `{ a: { b: value } }` from `a.b`. */
export const nest = (path: string, value: unknown): Record<string, unknown> =>
  path.split(".").reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as Record<string, unknown>;

/** The value at `a.b`. */
export const at = (path: string, value: unknown): unknown =>
  path.split(".").reduce<unknown>((group, key) => (group as Record<string, unknown> | undefined)?.[key], value);

/** The names of the options that the refusal of an unknown option lists. */
export function knownOptions(resolveUnknown: () => unknown): string[] {
  const { code, help } = errorOf(resolveUnknown);
  expect(code).toBe("option_unknown");
  return (/^Known are (.*)\.$/.exec(help)?.[1] ?? "").split(", ");
}
