import { AFTER_SIGNING } from "../../deliveries/after-signing.js";
import type { Delivery } from "../../deliveries/delivery-schema.js";
import { shortened } from "../../console/printable.js";

/** What a case sends, in words. No secret and no digest is in them. */
export function describeDelivery(delivery: Delivery, sending: number): string {
  const { event, body, bodyBase64, method = "POST", repeat = 1, afterSigning, padToBytes } = delivery;
  const content = event ?? (bodyBase64 === undefined ? textOf(body ?? "") : "bytes that are no UTF-8");
  return [
    `${method} ${content}`,
    ...(padToBytes === undefined ? [] : [`padded to ${padToBytes} bytes`]),
    ...(delivery.chunked === true ? ["in chunks"] : []),
    signatureOf(delivery),
    ...(afterSigning === undefined ? [] : [AFTER_SIGNING[afterSigning].words]),
    ...(repeat === 1 ? [] : [`time ${sending} of ${repeat}`]),
    ...(delivery.conflict === true && sending > 1 ? ["with another body"] : []),
  ].join(", ");
}

function textOf(body: string): string {
  if (body === "") return "without a body";
  return body.length <= 40 ? `the text ${JSON.stringify(body)}` : "an event of its own";
}

function signatureOf({ header, headerTwice, secret, skewSeconds = 0 }: Delivery): string {
  if (header === null) return "no signature";
  // `{t}` and `{v1}` stand for the time and the right digest.
  if (header !== undefined) return `the header ${shortened(header, 50)}`;
  const age = skewSeconds === 0 ? "" : `, ${Math.abs(skewSeconds)} s ${skewSeconds < 0 ? "ago" : "ahead"}`;
  const signed = `signed ${secret === "other" ? "with another secret" : "correctly"}${age}`;
  return headerTwice === true ? `${signed}, the header twice` : signed;
}
