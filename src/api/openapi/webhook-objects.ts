import { SIGNATURE_HEADER } from "../../signature/header.js";
import { LIMITS } from "../limits.js";
import { componentRef, type ComponentName, type JsonObject } from "./component-schemas.js";

/** The deliveries that the service sends, as OpenAPI path items by event type (service document, Events). */
export function webhookObjects(): Record<string, { post: JsonObject }> {
  return {
    "signal.published": delivery({
      operationId: "signalPublished",
      summary: "A signal was published",
      description: `Store it, accept each event id once, queue the follow-up work, and answer. Not sent after ${LIMITS.signalDelayHours} hours.`,
      event: "SignalPublishedEvent",
      answer: { description: "Accepted." },
    }),
    "webhook.verification": delivery({
      operationId: "webhookVerification",
      summary: "An endpoint is verified",
      description: "Sent soon after the registration. Answer with the challenge.",
      event: "WebhookVerificationEvent",
      answer: {
        description: "The challenge, unchanged.",
        content: { "application/json": { schema: componentRef("ChallengeAnswer") } },
      },
    }),
    "webhook.test": delivery({
      operationId: "webhookTest",
      summary: "An endpoint is tested",
      description: "Answer it as you answer a signal.",
      event: "WebhookTestEvent",
      answer: { description: "Accepted." },
    }),
  };
}

/** The parameter that each delivery has, as a component. */
export const SIGNATURE_PARAMETER = {
  name: SIGNATURE_HEADER,
  in: "header",
  required: true,
  description:
    "`t` is the time in unix seconds. `v1` is the HMAC-SHA256, in lower-case hex, over that time, a dot and the exact bytes " +
    "of the body, keyed with the full signing secret. Compare in constant time, before you parse the body. Reject a timestamp " +
    `that differs from the current time by more than ${LIMITS.signatureAgeSeconds} seconds.`,
  schema: { type: "string", pattern: String.raw`^t=\d{1,12},v1=[0-9a-f]{64}$` },
  example: `t=1772442900,v1=${"5d".repeat(32)}`,
};

interface DeliveryText {
  operationId: string;
  summary: string;
  description: string;
  event: ComponentName;
  answer: JsonObject;
}

function delivery({ event, answer, ...text }: DeliveryText): { post: JsonObject } {
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
        "3XX": { description: "Not accepted: redirects are not followed. It may be sent again, as for 5XX." },
        "4XX": {
          description: "Not accepted: the signature does not match or is too old. It may be sent again, as for 5XX.",
        },
        "5XX": {
          description:
            "Not accepted now, for example because the receiver knows no secret or cannot store. It may be sent again, with the " +
            `same bytes and a new signature, within ${LIMITS.signalDelayHours} hours; when and how often is not shown.`,
        },
      },
    },
  };
}
