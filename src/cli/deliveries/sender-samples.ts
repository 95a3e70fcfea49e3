import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { nearMiss } from "../../options/near-miss.js";
import { echoed } from "../console/printable.js";
import { usageError } from "../options/exit.js";
import { PACKAGED_FIXTURES, setPaths, type Assignment } from "./event-source.js";

/** An event of a sender, and what its sender reads of it. `fixtures/README.md` has the placeholders. */
export interface EventSample {
  type: string;
  subtype: string | null;
  subject: string | null;
  /** Null: the hash of the body. */
  id: string | number | null;
  headers?: Record<string, string | number>;
  /** The body as JSON. */
  json?: Record<string, unknown>;
  /** The body as a form. */
  form?: Record<string, unknown>;
}

export function samplesOf(sender: string): readonly EventSample[] {
  const path = `${PACKAGED_FIXTURES}samples/${sender}.json`;
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as EventSample[]) : [];
}

/** Finds an event by its type, or by its type and subtype with a dot between them. */
export function findSample(samples: readonly EventSample[], name: string): EventSample | undefined {
  return samples.find((sample) => name === sample.type || name === nameOf(sample));
}

/** The error for a name that is no type of the sender. It lists the types. */
export function unknownType(sender: string, name: string): Error {
  const names = [...new Set(samplesOf(sender).map(nameOf))];
  const meant = nearMiss(name, names);
  const question = meant === undefined ? "" : ` did you mean ${meant}?`;
  const list = `use sample, or one of: ${names.join(", ")}`;
  return usageError(`"${echoed(name)}" is neither a file nor a type of ${sender};${question} ${list}`);
}

function nameOf({ type, subtype }: EventSample): string {
  return subtype === null ? type : `${type}.${subtype}`;
}

/** Fills the placeholders, as if the event happened now. */
export function fillSample(sample: EventSample, now: number): EventSample {
  const uuid = randomUUID();
  const values = { ms: now, s: Math.floor(now / 1000), iso: new Date(now).toISOString(), uuid };
  const fill = (text: string): unknown => {
    if (text === "{ms}" || text === "{s}") return text === "{s}" ? values.s : values.ms;
    return text.replaceAll(/\{(ms|s|iso|uuid)\}/g, (_, name: keyof typeof values) => String(values[name]));
  };
  const all = (_: string, value: unknown): unknown => (typeof value === "string" ? fill(value) : value);
  return JSON.parse(JSON.stringify(sample), all) as EventSample;
}

/** The body and headers of a filled sample, with the values of `--set`. */
export function deliveryOfSample({ headers = {}, json, form = {} }: EventSample, assignments: readonly Assignment[]) {
  const fields = setPaths(json ?? form, assignments);
  const texts = Object.entries(fields).map(([name, value]): [string, string] => [
    name,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  const [type, body] =
    json === undefined
      ? ["application/x-www-form-urlencoded", new URLSearchParams(texts).toString()]
      : ["application/json", JSON.stringify(fields)];
  const given = Object.entries(headers).map(([name, value]) => [name, String(value)]);
  return {
    body: Buffer.from(body),
    headers: { "content-type": type, ...Object.fromEntries(given) } as Record<string, string>,
  };
}
