import { createHash, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import type { Sender } from "./engine/sender.js";
import { checkSenderOptions, knownSender, type SenderOptions } from "./known-sender.js";
import { isUsableSecret } from "./signature/sign.js";

/** A delivery of Meta, with one or more entries. */
export interface MetaEvent {
  object: string;
  entry: {
    id: string;
    changes?: { field: string; value: unknown }[];
    [property: string]: unknown;
  }[];
}

/** The options of `meta`. */
export interface MetaOptions<Event = MetaEvent> extends SenderOptions<Event> {
  /** The text that you entered as "Verify token" beside the address. */
  verifyToken: string;
}

const optionsShape = {
  verifyToken: z.custom<string>(isUsableSecret, "expected the text that you entered at Meta"),
};

/**
 * Meta: WhatsApp, Messenger, Instagram, Facebook
 * (https://developers.facebook.com/docs/graph-api/webhooks/getting-started). The secret is the app
 * secret. The type is `object`, the subtype the `field` of the first change, or what the first
 * message is, such as `postback`. A delivery has many entries, and is one event. Meta tries for 36
 * hours, for WhatsApp up to 7 days.
 *
 * Not promised: there is no id, so the hash of the body is it, and no signed time: a captured
 * delivery is a duplicate for as long as its event is remembered.
 *
 * @throws SignalboxError `option_unknown`, `option_invalid`
 */
export function meta<Event = MetaEvent>(
  options: MetaOptions<Event>,
): Sender<Record<string, Event>> {
  const { verifyToken, subject } = checkSenderOptions("meta", optionsShape, options);
  return knownSender({
    subject,
    name: "meta",
    // WhatsApp sends up to 3 MB.
    bodyLimitBytes: 3 * 1024 * 1024,
    signature: { header: "x-hub-signature-256", prefix: "sha256=" },
    handshake: {
      get(query) {
        const challenge = query.get("hub.challenge");
        const isAsked = query.get("hub.mode") === "subscribe" && challenge !== null;
        return isEqual(query.get("hub.verify_token") ?? "", verifyToken) && isAsked
          ? { text: challenge }
          : "refused";
      },
    },
    read: ({ json }) => ({
      id: null,
      type: json.object,
      subtype: json.entry?.[0]?.changes?.[0]?.field ?? messagingOf(json.entry?.[0]),
      subject: json.entry?.[0]?.id,
    }),
  });
}

/**
 * What an entry of Messenger or Instagram has beside those who speak and the time, such as
 * `message` or `postback`.
 */
function messagingOf(
  entry: { messaging?: object[]; standby?: object[] } | undefined,
): string | undefined {
  const [first = {}] = entry?.messaging ?? entry?.standby ?? [];
  return Object.keys(first).find(
    (key) => !["sender", "recipient", "timestamp", "is_echo"].includes(key),
  );
}

/** In constant time, whatever the lengths are. */
function isEqual(given: string, wanted: string): boolean {
  return timingSafeEqual(hashOf(given), hashOf(wanted));
}

function hashOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
