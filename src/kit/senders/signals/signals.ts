import { headerValue } from "../engine/headers.js";
import type { EventFacts, Sender } from "../engine/sender.js";
import { parseSignatureHeader, SIGNATURE_HEADER } from "../signature/header.js";
import { isUsableSecret, signBody } from "../signature/sign.js";
import type { KnownEvent, Signal, TestEvent, UnknownEvent } from "./envelope.js";
import { parseEvent } from "./parse-event.js";

const SIGNATURE = SIGNATURE_HEADER.toLowerCase();

/** Other texts are not kept beside the payload, because people read them in lists. */
const FACT = /^[\w.-]{1,200}$/;

/**
 * The service whose signals signalbox receives by default (service document, Events). It is written
 * without the engine of `scheme.ts`, whose closures would cost each delivery time.
 */
export const signals: Sender<{ "signal.published": Signal; "webhook.test": TestEvent }> = {
  name: "signals",
  limits: { bodyLimitBytes: 262_144 },
  keptHeaders: ["content-type", "user-agent", SIGNATURE],
  signatureHeader: SIGNATURE,
  signatureHeaders: [SIGNATURE],
  signedHeaders: [SIGNATURE],
  unsignedId: false,
  unsignedFacts: [],
  repeatedBody: "keep",
  otherBody: "conflict",
  reads: ["signals"],
  secretProblem: (secret) =>
    isUsableSecret(secret) ? null : "expected the text that the service showed",
  signature: (headers) => parseSignatureHeader(headerValue(headers, SIGNATURE)),
  read({ body }) {
    const parsed = parseEvent(body);
    if (parsed.kind === "unusable") {
      const { reason, path } = parsed;
      return { kind: "unusable", reason: path === undefined ? reason : `${reason}: ${path}` };
    }
    if (parsed.kind === "known" && parsed.event.type === "webhook.verification") {
      const { id, type, data } = parsed.event;
      return { kind: "challenge", id, type, answer: { challenge: data.challenge } };
    }
    const { event } = parsed;
    // An event of an unknown type stays stored until a user replays it with a version of signalbox
    // that knows its type.
    const quarantine = parsed.kind === "unknown" ? "unknown_type" : null;
    const { subtype, subject } = factsOf(event);
    return { kind: "event", id: event.id, type: event.type, subtype, subject, event, quarantine };
  },
  sign: (body, { secret, now, headers }) => ({
    ...headers,
    [SIGNATURE_HEADER]: signBody({ body, secret, timestamp: Math.floor(now / 1000) }),
  }),
  sample: (now) => ({
    body: {
      id: `evt_${now}`,
      version: "1",
      type: "webhook.test",
      created_at: new Date(now).toISOString(),
      data: { message: "A test." },
    },
  }),
};

function factsOf(event: KnownEvent | UnknownEvent): Pick<EventFacts, "subtype" | "subject"> {
  if (event.type !== "signal.published") return { subtype: null, subject: null };
  const { signal_type: subtype, product } = (event as Signal).data;
  return {
    subtype: FACT.test(subtype) ? subtype : null,
    subject: FACT.test(product.slug) ? product.slug : null,
  };
}
