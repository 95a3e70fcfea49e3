import { hash } from "node:crypto";
import { z } from "zod";
import { checkOptions } from "../options/option-error.js";
import { publicUrlOption } from "./check-definition.js";
import { defineSender } from "./define-sender.js";
import type { SignedRequest } from "./scheme.js";
import type { Sender } from "./sender.js";

/** The parameters of a request of Twilio. */
export type TwilioEvent = Record<string, string>;

/** The options of `twilio`. */
export interface TwilioOptions {
  /** The address as Twilio has it, such as `https://hooks.example/webhooks/twilio`: it is signed. A query is taken from the request. */
  publicUrl: string;
}

const optionsSchema = z.strictObject({ publicUrl: publicUrlOption });

/**
 * Twilio (https://www.twilio.com/docs/usage/security#validating-requests). The secret is the auth token. The types are `message.received`,
 * `message.delivered`, `call.completed` and so on, by the status; the subject is the SID. The answer is an empty TwiML document.
 *
 * Not promised: Twilio signs no time, and has no signed id. The hash of the signed parameters is the id: a captured request is a duplicate for as long as its event
 * is remembered. TwiML with content: answer such requests by a route of your own.
 *
 * @throws SignalboxError `option_unknown`, `option_invalid`
 */
export function twilio<Event = TwilioEvent>(options: TwilioOptions): Sender<Record<string, Event>> {
  const { publicUrl } = checkOptions("twilio", optionsSchema, options);
  return defineSender({
    name: "twilio",
    publicUrl,
    // Twilio's requests have some KiB. To sort the names of a large forged one takes long.
    bodyLimitBytes: 65_536,
    signature: { header: "x-twilio-signature", digest: "sha1", encoding: "base64", message: messageOf },
    acknowledgement: { text: "<Response></Response>", contentType: "text/xml" },
    read({ form, body }) {
      const { MessageSid, CallSid, MessageStatus, SmsStatus, CallStatus } = form;
      // Other bytes can have the same signature: the order of the parameters is not signed.
      const id = isForm(form) ? `sha256:${hash("sha256", textOf(body))}` : null;
      if (MessageSid !== undefined) {
        return { id, type: `message.${MessageStatus ?? SmsStatus ?? "request"}`, subject: MessageSid };
      }
      return { id, type: CallSid === undefined ? "event" : `call.${CallStatus ?? "request"}`, subject: CallSid };
    },
    sample: (now) => ({
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({
        MessageSid: `SM${now}`,
        MessageStatus: "delivered",
        To: "+15550100",
        From: "+15550101",
      }).toString(),
    }),
  }) as Sender<Record<string, Event>>;
}

const isForm = (form: Readonly<Record<string, string | undefined>>): boolean => Object.keys(form).length > 0;

/** The address and then each parameter with its value, by name; for JSON the address alone, which has the body's hash. */
function messageOf({ body, url }: SignedRequest): readonly string[] | null {
  const bodyHash = new URL(url).searchParams.get("bodySHA256");
  if (bodyHash !== null) return hash("sha256", body, "hex") === bodyHash ? [url] : null;
  return [url, textOf(body)];
}

/** What is signed of a form. */
function textOf(body: Uint8Array): string {
  const values = new Map<string, Set<string>>();
  for (const [name, value] of new URLSearchParams(Buffer.from(body).toString("utf8"))) {
    values.set(name, (values.get(name) ?? new Set()).add(value));
  }
  const names = [...values.keys()].sort();
  return names.flatMap((name) => [...(values.get(name) ?? [])].sort().map((value) => `${name}${value}`)).join("");
}
