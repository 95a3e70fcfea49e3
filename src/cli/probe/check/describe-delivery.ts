import { AFTER_SIGNING } from "../../deliveries/build-delivery.js";
import { describeAnswer, describeWanted, type Wanted } from "../../deliveries/answer.js";
import type { Delivery } from "../../deliveries/fixture-folder.js";
import { isAsWanted, type Exchange } from "../../deliveries/send-cases.js";
import { shortened } from "../../console/printable.js";
import type { Probe } from "./check-context.js";

export function probeOf(exchange: Exchange, wanted: Wanted): Probe {
  const { name, delivery, sending, expected, answer } = exchange;
  return {
    name,
    sent: describeDelivery(delivery, sending),
    expected: describeWanted(wanted, expected),
    actual: describeAnswer(answer, true),
    ok: isAsWanted(exchange, wanted),
  };
}

function describeDelivery(delivery: Delivery, sending: number): string {
  const {
    event,
    body,
    bodyBase64,
    method = "POST",
    repeat = 1,
    afterSigning,
    padToBytes,
  } = delivery;
  const content =
    event ?? (bodyBase64 === undefined ? describeText(body ?? "") : "bytes that are not UTF-8");
  return [
    `${method} ${content}`,
    ...(padToBytes === undefined ? [] : [`padded to ${padToBytes} bytes`]),
    ...(delivery.chunked === true ? ["in chunks"] : []),
    describeSignature(delivery),
    ...(afterSigning === undefined ? [] : [AFTER_SIGNING[afterSigning].description]),
    ...(repeat === 1 ? [] : [`attempt ${sending} of ${repeat}`]),
    ...(delivery.conflict === true && sending > 1 ? ["with another body"] : []),
  ].join(", ");
}

function describeText(body: string): string {
  if (body === "") return "without a body";
  return body.length <= 40 ? `the text ${JSON.stringify(body)}` : "an event made for this case";
}

function describeSignature({ header, headerTwice, secret, skewSeconds = 0 }: Delivery): string {
  if (header === null) return "no signature";
  // Shown with its placeholders: `{t}` is the timestamp, `{v1}` is the correct digest.
  if (header !== undefined) return `the header ${shortened(header, 50)}`;
  const age =
    skewSeconds === 0
      ? ""
      : `, ${Math.abs(skewSeconds)} s ${skewSeconds < 0 ? "ago" : "in the future"}`;
  const signed = `signed ${secret === "other" ? "with another secret" : "correctly"}${age}`;
  return headerTwice === true ? `${signed}, the header twice` : signed;
}
