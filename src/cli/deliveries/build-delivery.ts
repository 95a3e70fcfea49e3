import { SIGNATURE_HEADER } from "../../signature/header.js";
import { signBody } from "../../signature/sign.js";
import { AFTER_SIGNING } from "./after-signing.js";
import type { Delivery, Expectation } from "./delivery-schema.js";
import type { FixtureFolder } from "./fixture-folder.js";
import { isJsonObject, jsonObjectIn, restamp, uniqueInteger } from "./restamp.js";
import type { OutgoingDelivery } from "./send-delivery.js";

export interface BuildContext {
  events: FixtureFolder["events"];
  /** The one that the receiver knows. */
  secret: string;
  /** One that the receiver does not know. */
  otherSecret: string;
  /** Ids and times of events stay as they are in the fixtures. */
  asIs: boolean;
}

export type BuiltDelivery = ReturnType<typeof buildDelivery>;

/** A case that is ready to be sent, with the same content each time. */
export function buildDelivery(delivery: Delivery, context: BuildContext) {
  const content = padded(contentOf(delivery, context), delivery.padToBytes ?? 0);
  const challenge = challengeIn(content);
  return {
    delivery,
    sendings: delivery.repeat ?? 1,
    /** Signs for the `index`th sending, now. */
    build(index: number): OutgoingDelivery {
      const isOther = delivery.conflict === true && index > 0;
      // One more blank makes another body under the same id.
      const body = isOther ? Buffer.concat([content, Buffer.alloc(index, " ")]) : content;
      const change = delivery.afterSigning;
      const sent = change === undefined ? body : AFTER_SIGNING[change].apply(body);
      return {
        method: delivery.method ?? "POST",
        headers: [
          ...(sent.length > 0 ? [["Content-Type", "application/json"] as const] : []),
          ...(change === "gzip" ? [["Content-Encoding", "gzip"] as const] : []),
          ...signatureHeaders(delivery, body, context),
        ],
        body: sent,
        isChunked: delivery.chunked ?? false,
      };
    },
    /** What the answer to that sending must be, with the placeholders filled. */
    expected(index: number): Expectation {
      const expected = (index > 0 ? delivery.expectRepeat : undefined) ?? delivery.expect;
      if (!isJsonObject(expected.body) || expected.body["challenge"] !== "{challenge}" || challenge === null) {
        return expected;
      }
      return { ...expected, body: { ...expected.body, challenge } };
    },
  };
}

function contentOf({ event, body, bodyBase64 }: Delivery, { events, asIs }: BuildContext): Buffer {
  if (bodyBase64 !== undefined) return Buffer.from(bodyBase64, "base64");
  if (body !== undefined) return Buffer.from(body.replaceAll("{unique}", String(uniqueInteger())));
  const stored = events.get(event ?? "") ?? {};
  return Buffer.from(JSON.stringify(asIs ? stored : restamp(stored, Date.now())));
}

function padded(content: Buffer, bytes: number): Buffer {
  return Buffer.concat([content, Buffer.alloc(Math.max(0, bytes - content.length), " ")]);
}

function signatureHeaders(delivery: Delivery, body: Buffer, context: BuildContext): (readonly [string, string])[] {
  if (delivery.header === null) return [];
  const timestamp = Math.floor(Date.now() / 1000) + (delivery.skewSeconds ?? 0);
  const secret = delivery.secret === "other" ? context.otherSecret : context.secret;
  const v1 = signBody({ body, secret, timestamp }).replace(/^.*v1=/, "");
  const values = new Map([
    ["{t}", String(timestamp)],
    ["{t13}", String(timestamp * 1000)],
    ["{v1}", v1],
    ["{V1}", v1.toUpperCase()],
  ]);
  const template = delivery.header ?? "t={t},v1={v1}";
  const line = [SIGNATURE_HEADER, template.replaceAll(/\{\w+\}/g, (name) => values.get(name) ?? name)] as const;
  return delivery.headerTwice === true ? [line, line] : [line];
}

function challengeIn(content: Buffer): string | null {
  const data = jsonObjectIn(content)?.["data"];
  const challenge = isJsonObject(data) ? data["challenge"] : undefined;
  return typeof challenge === "string" ? challenge : null;
}
