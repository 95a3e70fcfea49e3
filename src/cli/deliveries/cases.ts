import type { OutgoingHttpHeaders } from "node:http";
import { SIGNATURE_HEADER } from "../../kit/senders/signature/header.js";
import { signBody } from "../../kit/senders/signature/sign.js";
import { AFTER_SIGNING } from "./after-signing.js";
import { isJsonObject, jsonObjectIn, restamp, uniqueInteger } from "./event-source.js";
import type { Delivery, FixtureFolder } from "./fixture-folder.js";
import type { Expectation, OutgoingDelivery } from "./send-delivery.js";

interface BuildContext extends Pick<FixtureFolder, "events"> {
  secret: string;
  otherSecret: string;
  /** If true, events keep the ids and times of the fixtures. Otherwise they get new ones. */
  asIs: boolean;
}

export type BuiltDelivery = ReturnType<typeof buildDelivery>;

/**
 * Prepares a case. All its sendings have the same content, so a repeated sending has the same id.
 */
export function buildDelivery(delivery: Delivery, context: BuildContext) {
  const content = padded(contentOf(delivery, context), delivery.padToBytes ?? 0);
  const challenge = challengeIn(content);
  return {
    delivery,
    sendings: delivery.repeat ?? 1,
    build(index: number): OutgoingDelivery {
      const isOther = delivery.conflict === true && index > 0;
      // A case with `conflict` repeats the id with another body: spaces are added at the end.
      const body = isOther ? Buffer.concat([content, Buffer.alloc(index, " ")]) : content;
      const change = delivery.afterSigning;
      const sent = change === undefined ? body : AFTER_SIGNING[change].apply(body);
      return {
        ...(delivery.method !== undefined && { method: delivery.method }),
        headers: {
          ...(sent.length > 0 && { "Content-Type": "application/json" }),
          ...(change === "gzip" && { "Content-Encoding": "gzip" }),
          ...signatureHeader(delivery, body, context),
        },
        body: sent,
        isChunked: delivery.chunked === true,
      };
    },
    /** The expected answer to the sending with this index, with the placeholders filled. */
    expected(index: number): Expectation {
      const expected = (index > 0 ? delivery.expectRepeat : undefined) ?? delivery.expect;
      const { body } = expected;
      if (!isJsonObject(body) || body["challenge"] !== "{challenge}" || challenge === null)
        return expected;
      return { ...expected, body: { ...body, challenge } };
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

function signatureHeader(
  { header = "t={t},v1={v1}", skewSeconds = 0, headerTwice, secret }: Delivery,
  body: Buffer,
  { secret: own, otherSecret }: BuildContext,
): OutgoingHttpHeaders {
  if (header === null) return {};
  const timestamp = Math.floor(Date.now() / 1000) + skewSeconds;
  const signed = signBody({ body, secret: secret === "other" ? otherSecret : own, timestamp });
  const v1 = signed.replace(/^.*v1=/, "");
  const value = header
    .replaceAll("{t}", String(timestamp))
    .replaceAll("{t13}", String(timestamp * 1000))
    .replaceAll("{v1}", v1)
    .replaceAll("{V1}", v1.toUpperCase());
  return { [SIGNATURE_HEADER]: headerTwice === true ? [value, value] : value };
}

function challengeIn(content: Buffer): string | null {
  const data = jsonObjectIn(content)?.["data"];
  const challenge = isJsonObject(data) ? data["challenge"] : undefined;
  return typeof challenge === "string" ? challenge : null;
}
