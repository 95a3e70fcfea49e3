import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";

/** An event of `fixtures/samples/` or `fixtures/payloads/`. */
interface Sample {
  type: string;
  subtype: string | null;
  subject: string | null;
  id: string | null;
  headers?: Record<string, string>;
  json?: object;
  form?: Record<string, string | object>;
}

/** A sample as it is sent at a time. */
export interface SampleDelivery {
  /** As the sample states them; `{header}`: the id is in a signed header. */
  expected: Pick<Sample, "type" | "subtype" | "subject" | "id">;
  headers: Record<string, string>;
  body: Buffer;
  uuid: string;
}

const FIXTURES = new URL("../../../../fixtures/", import.meta.url);

/** All samples of a sender. */
export function samplesOf(sender: string, now: number): SampleDelivery[] {
  const read = (folder: string) =>
    JSON.parse(readFileSync(new URL(`${folder}/${sender}.json`, FIXTURES), "utf8")) as Sample[];
  const samples = [...read("samples"), ...read("payloads")];
  // A millisecond apart, so that those without an id differ in their times.
  return samples.map((sample, index) => deliveryOf(sample, now + index));
}

function deliveryOf(sample: Sample, now: number): SampleDelivery {
  const uuid = randomUUID();
  const values: Record<string, string> = {
    "{ms}": String(now),
    "{s}": String(Math.floor(now / 1000)),
    "{iso}": new Date(now).toISOString(),
    "{uuid}": uuid,
  };
  const text = (template: string) =>
    template.replace(/\{(?:ms|s|iso|uuid)\}/g, (name) => values[name] ?? name);
  const filled = (value: unknown): unknown => {
    if (value === "{ms}" || value === "{s}") return Number(values[value]);
    if (typeof value === "string") return text(value);
    if (Array.isArray(value)) return value.map(filled);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, filled(each)]));
  };
  const { json, form, headers = {}, id, type, subtype, subject } = sample;
  const fields = Object.entries(form ?? {}).map(([name, value]): [string, string] => [
    name,
    typeof value === "string" ? text(value) : JSON.stringify(filled(value)),
  ]);
  return {
    expected: {
      id: id === null ? null : text(id),
      type,
      subtype: subtype === null ? null : text(subtype),
      subject: subject === null ? null : text(subject),
    },
    headers: {
      "content-type": form === undefined ? "application/json" : "application/x-www-form-urlencoded",
      ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, text(value)])),
    },
    body: Buffer.from(
      json === undefined ? new URLSearchParams(fields).toString() : JSON.stringify(filled(json)),
    ),
    uuid,
  };
}
