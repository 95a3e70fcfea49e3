import { SIGNATURE_HEADER } from "../../../kit/senders/signature/header.js";
import type { JsonObject } from "../json-schema.js";
import { LIMITS } from "../limits.js";
import { componentRef, type ComponentName } from "./component-schemas.js";

/**
 * Describes the deliveries of the service as OpenAPI path items by event type (service document,
 * Events).
 */
export function webhookObjects(): Record<string, { post: JsonObject }> {
  const signal = {
    operationId: "signalPublished",
    summary: "A signal was published",
    description: `Store the event, process each event id once, queue the follow-up work, and answer. A signal is not sent after ${LIMITS.signalDelayHours} hours.`,
  };
  const verification = {
    operationId: "webhookVerification",
    summary: "An endpoint is verified",
    description: "Sent soon after the registration. Answer with the challenge.",
  };
  const test = {
    operationId: "webhookTest",
    summary: "An endpoint is tested",
    description: "Answer as for a signal.",
  };
  const accepted = { description: "Accepted." };
  const challenge = { "application/json": { schema: componentRef("ChallengeAnswer") } };
  return {
    "signal.published": delivery("SignalPublishedEvent", signal, accepted),
    "webhook.verification": delivery("WebhookVerificationEvent", verification, {
      description: "The challenge, unchanged.",
      content: challenge,
    }),
    "webhook.test": delivery("WebhookTestEvent", test, accepted),
  };
}

/** The signature header of each delivery, as a component. */
export const SIGNATURE_PARAMETER = {
  name: SIGNATURE_HEADER,
  in: "header",
  required: true,
  description:
    "`t` is the time in unix seconds. `v1` is the HMAC-SHA256, in lower-case hex, of that time, a dot and the exact bytes " +
    "of the body, with the full signing secret as the key. Compare it in constant time, before you parse the body. Reject a " +
    `timestamp that differs from the current time by more than ${LIMITS.signatureAgeSeconds} seconds.`,
  schema: { type: "string", pattern: String.raw`^t=\d{1,12},v1=[0-9a-f]{64}$` },
  example: `t=1772442900,v1=${"5d".repeat(32)}`,
};

type DeliveryText = Record<"operationId" | "summary" | "description", string>;

function delivery(
  event: ComponentName,
  text: DeliveryText,
  answer: JsonObject,
): { post: JsonObject } {
  return {
    post: {
      ...text,
      tags: ["Signals"],
      security: [],
      parameters: [{ $ref: "#/components/parameters/Signature" }],
      requestBody: {
        required: true,
        content: { "application/json": { schema: componentRef(event) } },
      },
      responses: {
        "2XX": answer,
        "3XX": {
          description:
            "Not accepted, because redirects are not followed. The delivery can be retried, as for 5XX.",
        },
        "4XX": {
          description:
            "Not accepted, because the signature is wrong or too old. The delivery can be retried, as for 5XX.",
        },
        "5XX": {
          description:
            "Not accepted now, for example because the receiver cannot store the event. The delivery can be retried within " +
            `${LIMITS.signalDelayHours} hours, with the same bytes and a new signature. The service's document does not define ` +
            "when and how often.",
        },
      },
    },
  };
}
