import { hash } from "node:crypto";
import { parse, stringify } from "node:querystring";
import { publicUrlOption } from "./engine/check-definition.js";
import { addressOf } from "./engine/compile-scheme.js";
import { parametersOf } from "./engine/form.js";
import type { PublicUrl, SignedRequest } from "./engine/scheme.js";
import type { Sender } from "./engine/sender.js";
import { checkSenderOptions, knownSender, type SenderOptions } from "./known-sender.js";

/** The parameters of a request of Twilio. */
export type TwilioEvent = Record<string, string>;

/** The options of `twilio`. */
export interface TwilioOptions<Event = TwilioEvent> extends SenderOptions<Event> {
  /**
   * The address as Twilio has it, byte for byte and with its query, such as
   * `https://hooks.example/twilio?tenant=1`: it is signed. For many addresses a function that makes
   * the address from the path and query of the request, by a grammar of your own; null for any
   * other request.
   */
  publicUrl: PublicUrl;
}

/** What Twilio itself appends to the address of a request with JSON. */
const BODY_HASH = /[?&]bodySHA256=([0-9a-f]{64})$/;

/**
 * Twilio (https://www.twilio.com/docs/usage/security#validating-requests). The secret is the auth
 * token, or that of a shared key, which signs by SHA-256. The types are `message.received`,
 * `message.delivered`, `call.completed` and so on, by the status; the subject is the SID. The
 * answer is an empty TwiML document.
 *
 * Not promised: Twilio signs no time, and has no signed id. The hash of the signed parameters is
 * the id: a captured request is a duplicate for as long as its event is remembered. They are signed
 * without separators: who has captured one that did not arrive can move their borders. TwiML with
 * content: answer such requests by a route of your own.
 *
 * @throws SignalboxError `option_unknown`, `option_invalid`
 */
export function twilio<Event = TwilioEvent>(
  options: TwilioOptions<Event>,
): Sender<Record<string, Event>> {
  const shape = { publicUrl: publicUrlOption };
  const { publicUrl, subject } = checkSenderOptions("twilio", shape, options);
  return knownSender({
    subject,
    name: "twilio",
    publicUrl:
      typeof publicUrl === "string"
        ? publicUrl.replace(BODY_HASH, "")
        : ({ url }) => addressOf(publicUrl, url.replace(BODY_HASH, "")),
    // An add-on makes forms of more than 64 KiB.
    bodyLimitBytes: 512 * 1024,
    signature: {
      header: "x-twilio-signature",
      digest: ["sha1", "sha256"],
      encoding: "base64",
      message: textsOf,
    },
    acknowledgement: { text: "<Response></Response>", contentType: "text/xml" },
    read(delivery) {
      const { body, headers } = delivery;
      const text = isJson(body) ? null : textOf(body);
      const event = text === null ? delivery.json : Object.fromEntries(parametersOf(body) ?? []);
      const { MessageSid, CallSid, MessageStatus, SmsStatus, CallStatus } = event;
      // Other bytes can have the same signature: the order of the parameters is not signed. With an
      // address from the request, neither are its spelling and its end: what is the same for all of
      // them is the signature.
      const signed = typeof publicUrl === "string" ? text : (headers["x-twilio-signature"] ?? text);
      const id = text === null || signed === null ? null : `sha256:${hash("sha256", signed)}`;
      if (MessageSid !== undefined) {
        return {
          id,
          type: `message.${MessageStatus ?? SmsStatus ?? "request"}`,
          subject: MessageSid,
          event,
        };
      }
      const type = CallSid === undefined ? "event" : `call.${CallStatus ?? "request"}`;
      return { id, type, subject: CallSid, event };
    },
  });
}

/**
 * The bytes alone tell JSON from a form, since the header Content-Type is not signed. A name of
 * Twilio's begins with a letter.
 */
function isJson(body: Uint8Array): boolean {
  return (
    body.byteLength === 0 || /^\s*[{[]/.test(Buffer.from(body.subarray(0, 20)).toString("latin1"))
  );
}

/**
 * The address and then each parameter with its value, by name; for JSON the address alone, which
 * has the body's hash.
 */
function textsOf({ body, url, requestUrl }: SignedRequest): readonly string[][] | null {
  if (isJson(body)) {
    const digest = hash("sha256", body, "hex");
    if (requestUrl !== undefined && BODY_HASH.exec(requestUrl)?.[1] !== digest) return null;
    return spellingsOf(url).map((each) => [
      `${each}${each.includes("?") ? "&" : "?"}bodySHA256=${digest}`,
    ]);
  }
  const text = textOf(body);
  return text === null ? null : spellingsOf(url).map((each) => [each, text]);
}

/** What is signed of a form. @returns null for one that Twilio does not send */
function textOf(body: Uint8Array): string | null {
  const parameters = parametersOf(body);
  if (parameters === null) return null;
  const values = new Map<string, Set<string>>();
  for (const [name, value] of parameters)
    values.set(name, (values.get(name) ?? new Set()).add(value));
  const names = [...values.keys()].sort();
  const text = names
    .flatMap((name) => [...(values.get(name) ?? [])].sort().map((value) => name + value))
    .join("");
  // The end of the address of a captured request with JSON, whose signature this form would have.
  return BODY_HASH.exec(text)?.index === 0 ? null : text;
}

/**
 * The ways in which Twilio may have written an address before it signed it, as its own library
 * tries them: with and without the port, and with characters such as ' escaped. All are made of the
 * address itself, so that none adds trust.
 */
function spellingsOf(address: string): string[] {
  if (!URL.canParse(address)) return [address];
  const escaped = new URL(address).toString();
  const [path, query] = escaped.split(/\?(.+)/s);
  const rewritten = query === undefined ? escaped : `${path}?${stringify(parse(query))}`;
  return [
    ...new Set(
      [address, escaped, rewritten].flatMap((each) => [withoutPort(each), withPort(each)]),
    ),
  ];
}

const PORT = /^([a-z]+:\/\/(?:[^/?#]*@)?(?:\[[^\]]*\]|[^/?#:[\]]*))(:\d*)?(?=[/?#]|$)/i;

const withoutPort = (address: string): string => address.replace(PORT, "$1");
const withPort = (address: string): string =>
  address.replace(
    PORT,
    (_all, start: string, port?: string) =>
      start + (port ?? (/^https:/i.test(start) ? ":443" : ":80")),
  );
