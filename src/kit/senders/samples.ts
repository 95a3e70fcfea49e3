import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { SampleDelivery } from "./engine/sender.js";

/**
 * An event of a sender, and what its sender reads of it. `fixtures/README.md` has the placeholders.
 */
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

/**
 * The samples of the package; none for a sender of your own. From `src` and from `dist` the path is
 * the same.
 */
export function samplesOf(sender: string): readonly EventSample[] {
  const path = join(import.meta.dirname ?? "", `../../../fixtures/samples/${sender}.json`);
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as EventSample[]) : [];
}

/** Makes a sender's first sample. */
export function firstSampleOf(sender: string): (now: number) => SampleDelivery {
  // In a bundle there are none.
  return (now) =>
    deliveryOfSample(
      fillSample(samplesOf(sender)[0] ?? { type: "", subtype: null, subject: null, id: null }, now),
    );
}

/** Fills the placeholders, as if the event happened now. */
export function fillSample(sample: EventSample, now: number): EventSample {
  const values = {
    ms: now,
    s: Math.floor(now / 1000),
    iso: new Date(now).toISOString(),
    uuid: randomUUID(),
  };
  const fill = (text: string): unknown => {
    if (text === "{ms}" || text === "{s}") return text === "{s}" ? values.s : values.ms;
    return text.replaceAll(/\{(ms|s|iso|uuid)\}/g, (_, name: keyof typeof values) =>
      String(values[name]),
    );
  };
  const all = (_: string, value: unknown): unknown =>
    typeof value === "string" ? fill(value) : value;
  return JSON.parse(JSON.stringify(sample), all) as EventSample;
}

/** The body and headers of a filled sample. Values of a form that are no text are sent as JSON. */
export function deliveryOfSample({ headers = {}, json, form = {} }: Omit<EventSample, "id">): {
  body: object | string;
  headers: Record<string, string>;
} {
  const given = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, String(value)]),
  );
  if (json !== undefined) return { body: json, headers: given };
  const texts = Object.entries(form).map(([name, value]): [string, string] => [
    name,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  const type = { "content-type": "application/x-www-form-urlencoded" };
  return { body: new URLSearchParams(texts).toString(), headers: { ...type, ...given } };
}
