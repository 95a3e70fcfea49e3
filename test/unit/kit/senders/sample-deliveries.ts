import { readFileSync } from "node:fs";
import {
  deliveryOfSample,
  fillSample,
  type EventSample,
} from "../../../../src/kit/senders/samples.js";
import type { IndependentSigner } from "./independent-signers.js";

/** A sample as it is sent at a time. */
export interface SampleDelivery {
  /** As the sample states them; `{header}`: the id is in a signed header. */
  expected: Pick<EventSample, "type" | "subtype" | "subject"> & { id: string | null };
  headers: Record<string, string>;
  body: Buffer;
  uuid: string;
}

const FIXTURES = new URL("../../../../fixtures/", import.meta.url);

/** All samples of a sender, of `fixtures/samples/` and `fixtures/payloads/`. */
export function samplesOf(sender: string, now: number): SampleDelivery[] {
  const read = (folder: string) =>
    JSON.parse(
      readFileSync(new URL(`${folder}/${sender}.json`, FIXTURES), "utf8"),
    ) as EventSample[];
  return [...read("samples"), ...read("payloads")].map((sample, index) => {
    const marked = { ...sample, uuid: "{uuid}" };
    // A millisecond apart, so that those without an id differ in their times.
    const filled = fillSample(marked, now + index) as typeof marked;
    const { body, headers } = deliveryOfSample(filled);
    const { id, type, subtype, subject, uuid } = filled;
    return {
      expected: { id: id === null ? null : String(id), type, subtype, subject },
      headers: { "content-type": "application/json", ...headers },
      body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)),
      uuid,
    };
  });
}

/** Those that this signer sends: Shopify's Events have other headers than its webhooks. */
export function samplesFor({ name, sender }: IndependentSigner, now: number): SampleDelivery[] {
  const isShopify = sender.name === "shopify";
  return samplesOf(sender.name, now).filter(
    ({ headers }) => !isShopify || "shopify-topic" in headers === name.includes("Events"),
  );
}
