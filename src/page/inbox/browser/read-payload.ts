import { safely } from "../../../base/errors.js";
import type { EventAnswer } from "../inbox-api.js";

/** As a receiver tells a form. */
const FORM = /^[\w.%+[\]-]+=/;

/** A number that JavaScript cannot hold, as it was written. */
const exact = (_key: string, value: unknown, written?: { source: string }): unknown =>
  typeof value === "number" && !Number.isSafeInteger(Math.trunc(value)) && written
    ? written.source
    : value;

/**
 * A payload that has a structure: JSON, or the fields of a form; undefined for another.
 */
export function readPayload({ payload, isCut }: Pick<EventAnswer, "payload" | "isCut">) {
  if (payload === null || isCut) return undefined;
  const isForm = FORM.test(payload);
  return safely(() => {
    const value = isForm ? readForm(payload) : (JSON.parse(payload, exact) as unknown);
    // Throws where it is nested too deep for what is drawn of it.
    JSON.stringify(value);
    return { kind: isForm ? "form, decoded" : "JSON", value };
  }, undefined);
}

/** A field that is there several times is a list. */
function readForm(payload: string): object {
  const fields = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(payload)) {
    if (!fields.get(name)?.push(value)) fields.set(name, [value]);
  }
  return Object.fromEntries(
    [...fields].map(([name, all]) => [name, all.length > 1 ? all : all[0]]),
  );
}

export const isBranch = (value: unknown): value is object =>
  typeof value === "object" && value !== null && Object.keys(value).length > 0;

/** As code has it: `data.items[0]["a b"]`. */
export function pathTo(path: string, key: string, parent: unknown): string {
  if (Array.isArray(parent)) return `${path}[${key}]`;
  if (!/^[A-Za-z_$][\w$]*$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === "" ? key : `${path}.${key}`;
}

/** What is below a longer path is one value: a browser cannot draw thousands of levels. */
export const DEEP = 200;

/** As JSON; undefined where it is not there. */
type Difference = [path: string, before?: string, after?: string];

/** Where two payloads differ. Lists are compared place by place. */
export function differences(before: unknown, after: unknown, path = ""): Difference[] {
  const [was, is] = [JSON.stringify(before), JSON.stringify(after)];
  if (was === is) return [];
  // A list and an object begin otherwise.
  if (!isBranch(before) || !isBranch(after) || was[0] !== is[0] || path.length > DEEP)
    return [[path, was, is]];
  const had = new Map<string, unknown>(Object.entries(before));
  const has = new Map<string, unknown>(Object.entries(after));
  return Object.keys({ ...before, ...after }).flatMap((key) =>
    differences(had.get(key), has.get(key), pathTo(path, key, after)),
  );
}
