import { parseJson } from "../../events/parse-json.js";
import { usageError } from "../options/exit.js";
import { echoed } from "../console/printable.js";
import { isJsonObject } from "./restamp.js";

/** One `--set path=value`. */
export interface Assignment {
  path: readonly string[];
  value: unknown;
}

/** The value is JSON where it parses, and text otherwise; `"5"` in quotes is text. */
export function parseAssignment(text: string): Assignment {
  const equals = text.indexOf("=");
  const path = text.slice(0, Math.max(0, equals)).split(".");
  if (equals < 1 || path.includes("")) {
    throw usageError(`--set takes path=value, such as data.product.slug=acme; "${echoed(text)}" is none`);
  }
  if (path.includes("__proto__")) throw usageError("--set never sets __proto__");
  const raw = text.slice(equals + 1);
  const json = parseJson(Buffer.from(raw));
  return { path, value: json.ok ? json.value : raw };
}

/** A copy of the event with these values; objects on the way are made, array elements are named by their index. */
export function setPaths(event: Record<string, unknown>, assignments: readonly Assignment[]): Record<string, unknown> {
  const copy = structuredClone(event);
  for (const { path, value } of assignments) setPath(copy, path, value);
  return copy;
}

function setPath(root: Record<string, unknown>, path: readonly string[], value: unknown): void {
  let node: Record<string, unknown> = root;
  path.slice(0, -1).forEach((name, depth) => {
    // Own properties alone: `constructor.prototype` must not lead out of the event.
    const next: unknown = Object.hasOwn(node, name) ? node[name] : undefined;
    if (next === undefined || next === null) node = node[name] = {};
    else if (isJsonObject(next) || Array.isArray(next)) node = next as Record<string, unknown>;
    else throw usageError(`--set cannot reach into ${path.slice(0, depth + 1).join(".")}: it is no object`);
  });
  const last = path.at(-1) as string;
  if (Array.isArray(node) && !/^\d{1,6}$/.test(last)) throw usageError(`--set: ${last} is no index of an array`);
  node[last] = value;
}
