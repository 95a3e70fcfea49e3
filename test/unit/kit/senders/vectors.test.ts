import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import { errorOf } from "../../signalbox-error-of.js";
import {
  deliveredOf,
  readingOf,
  senderOf,
  VECTORS,
  verdictOf,
  type Delivered,
} from "./published-vectors.js";
import { startFor } from "./sender-rig.js";

const CASES = VECTORS.map((each) => ({ ...each, delivered: deliveredOf(each.vector) }));
type Case = (typeof CASES)[number];
/** What stands between two signatures, of the senders that can send several. */
const BETWEEN: Readonly<Record<string, string>> = {
  stripe: ",",
  paddle: ";",
  "standard-webhooks": " ",
  svix: " ",
  gitlab: " ",
};
const OTHER_SECRET = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/** With another value of the header with the signature. */
function withSignature(
  { sender, delivered }: Case,
  change: (value: string) => string | readonly string[],
): Delivered {
  const value = change(delivered.headers[sender.signatureHeader] as string);
  return { ...delivered, headers: { ...delivered.headers, [sender.signatureHeader]: value } };
}

/** The signature that is made here. */
function signatureOf({ sender, vector, delivered }: Case, secret: string): string {
  const signing = { secret, now: vector.now, headers: vector.headers };
  return sender.sign(delivered.body, signing)[sender.signatureHeader] as string;
}

test.each(CASES)(
  "$name is read as documented, the whole way through a receiver",
  async ({ sender, vector, delivered }) => {
    const { secret, now, expected } = vector;
    expect(verdictOf(sender, { ...delivered, secrets: [OTHER_SECRET, secret, "another"] })).toBe(1);
    const { handle, receiver } = await startFor(sender, secret, { now });
    const answer = await handle(vector);
    expect(answer.status).toBe(200);
    const entries = await receiver.inbox.list();
    if (expected !== null && "answer" in expected) {
      expect(entries).toEqual([]);
      const { answer: wanted } = expected;
      expect(answer.body).toBe(typeof wanted === "string" ? wanted : JSON.stringify(wanted));
      return;
    }
    const reading = readingOf(sender, delivered);
    if (expected === null) expect(reading.kind).toBe("unusable");
    else expect(reading).toMatchObject({ kind: "event", quarantine: null, ...expected });
    const state = expected === null ? { state: "quarantined" } : { type: expected.type };
    expect(entries).toMatchObject([state]);
  },
);

const ofHeader = (change: (value: string) => string) => (each: Case) => withSignature(each, change);
const HEX = /[0-9a-f]{40,}/g;
/** Each signature in the header. */
const ofHex = (change: (text: string) => string) => ofHeader((value) => value.replace(HEX, change));
const ofBase64 = (change: (text: string) => string) =>
  ofHeader((value) =>
    value.match(HEX) === null ? value.replace(/[A-Za-z0-9+/]{27,}={0,2}/g, change) : value,
  );
const withSecrets =
  (...secrets: string[]) =>
  ({ delivered }: Case) => ({ ...delivered, secrets });

/** The time in a header of its own, or beside the signature. */
const ofTime =
  (change: (time: string) => string) =>
  (each: Case): Delivered => {
    const listed = withSignature(each, (value) =>
      value.replace(/\b(ts?=)(\d+)/, (_all, name: string, time: string) => name + change(time)),
    );
    const headers = Object.entries(listed.headers).map(([name, value]) => [
      name,
      /time-?stamp/.test(name) ? change(String(value)) : value,
    ]);
    return { ...listed, headers: Object.fromEntries(headers) as Delivered["headers"] };
  };

/**
 * What a proxy does to a delivery, or somebody without the secret. What changes nothing of a sender's
 * deliveries is not sent.
 */
const REFUSED: Readonly<Record<string, Readonly<Record<string, (each: Case) => Delivered>>>> = {
  signature_mismatch: {
    "another last byte": ({ delivered }) => {
      const body = Buffer.from(delivered.body);
      body.writeUInt8(body.readUInt8(body.length - 1) ^ 1, body.length - 1);
      return { ...delivered, body };
    },
    "a body that was parsed and written again": rewritten,
    "another hex": ofHex((text) => (text.startsWith("a") ? "b" : "a") + text.slice(1)),
    "another base64": ofBase64((text) => (text.startsWith("a") ? "b" : "a") + text.slice(1)),
    "base64 in small letters": ofBase64((text) => text.toLowerCase()),
    // Bits that are left over, which a decoder would ignore.
    "base64 with other last bits": ofBase64((text) => text.replace(/.=$/, "B=")),
    // The time is signed: a captured delivery cannot get a new one.
    "another time": ofTime((time) => time.replace(/\d(?=Z?$)/, (digit) => String(9 - +digit))),
    "another secret": withSecrets(OTHER_SECRET),
    "a part of its secret": (each) => withSecrets(each.vector.secret.slice(0, -4))(each),
    "blank secrets": withSecrets("", " ", "\n"),
  },
  signature_malformed: {
    "a part of its hex": ofHex((text) => text.slice(1)),
    "a part of its base64": ofBase64((text) => text.slice(1)),
    "hex in capitals": ofHex((text) => text.toUpperCase()),
    "base64 without its padding": ofBase64((text) => text.replace(/=$/, "")),
    // `v1=`, `v0=`, `h1=`, `v1,` and `sha256=` become those of another version; where there is no
    // prefix, there is one.
    "another prefix": ofHeader((text) =>
      /(v1|v0|h1|sha256)([=,])/.test(text)
        ? text.replace(/(v1|v0|h1|sha256)([=,])/g, "w9$2")
        : `sha256=${text}`,
    ),
    "a blank before": ofHeader((value) => ` ${value}`),
    ...Object.fromEntries(["", "0x5", "1e9", "-1"].map((time) => [time, ofTime(() => time)])),
  },
  signature_missing: {
    "no header of the signature": ({ sender, delivered }) => {
      const { [sender.signatureHeader]: _gone, ...headers } = delivered.headers;
      return { ...delivered, headers };
    },
  },
};

function rewritten({ sender, vector, delivered }: Case): Delivered {
  const text = vector.body;
  if (vector.headers["content-type"] !== "application/x-www-form-urlencoded") {
    const isJson = /^[{[]/.test(text);
    const body = isJson ? JSON.stringify(JSON.parse(text), null, 3) : `${text}\n`;
    return { ...delivered, body: Buffer.from(body) };
  }
  // Of a form Twilio signs the fields, not the bytes.
  if (sender.name === "twilio") return delivered;
  const body = text.replaceAll(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase());
  return { ...delivered, body: Buffer.from(body) };
}

test.each(CASES)("$name is refused with any change", (each) => {
  const { sender, delivered } = each;
  for (const [reason, changes] of Object.entries(REFUSED)) {
    for (const [what, change] of Object.entries(changes)) {
      const changed = change(each);
      if (!isDeepStrictEqual(changed, delivered))
        expect(verdictOf(sender, changed), what).toBe(reason);
    }
  }
  for (const secret of ["", " ", "\n"])
    expect(errorOf(() => signatureOf(each, secret)).code).toBe("secret_invalid");
});

test.each(CASES)("$name is refused too early and too late", ({ sender, vector, delivered }) => {
  const at = (seconds: number) =>
    verdictOf(sender, { ...delivered, now: vector.now + seconds * 1000 });
  const signature = sender.signature(vector.headers, vector.url);
  if (!signature.ok || signature.signedAt(delivered.body) === null) {
    expect(at(100_000_000)).toBe(0);
    return;
  }
  const { toleranceSeconds = 300 } = sender.limits;
  // A time in the body may be old, since the bytes are sent again; it is not in the future.
  const aheadSeconds = sender.name === "linear" ? 300 : toleranceSeconds;
  expect([at(toleranceSeconds), at(-aheadSeconds)]).toEqual([0, 0]);
  for (const seconds of [toleranceSeconds + 1, -aheadSeconds - 1])
    expect(at(seconds)).toBe("timestamp_out_of_tolerance");
});

test.each(CASES)("$name with further signatures", (each) => {
  const between = BETWEEN[each.sender.name];
  const verdict = (change: (value: string) => string | readonly string[]) =>
    verdictOf(each.sender, withSignature(each, change));
  // Sent twice, and so joined by whoever is first. Of a list, each candidate counts by itself, and
  // none may be there twice.
  expect(verdict((value) => [value, value])).toBe("signature_malformed");
  if (between === undefined) return;
  // Of a list with a time, such as `t=1,v1=ab`, the second part.
  const other = signatureOf(each, OTHER_SECRET).split(between).at(-1) as string;
  expect(verdict((value) => value + between + other)).toBe(0);
  expect(verdict((value) => value + `${between}${other}`.repeat(20))).toBe("signature_malformed");
});

test.each([
  [
    "github",
    { "x-github-event": "issues", "x-github-delivery": "1" },
    "payload",
    '{"action":"deleted"}',
  ],
  ["slack", {}, "payload", '{"type":"block_actions","team":{"id":"T1"}}'],
  ["slack", {}, "command", "/deploy"],
])(
  "%s: the content type is not signed, so with another one JSON does not become a form",
  (name, headers, field, value) => {
    const sender = senderOf(name);
    // Text that anybody can write into an issue or a message.
    const text = `&${field}=${encodeURIComponent(value)}&`;
    const event = { action: "opened", type: "event_callback", event: { type: "message", text } };
    const body = Buffer.from(JSON.stringify(event));
    const read = (type: string) =>
      readingOf(sender, {
        headers: { ...headers, "content-type": type },
        body,
        secrets: [],
        now: 0,
      });
    expect(read("application/x-www-form-urlencoded")).toEqual(read("application/json"));
    expect(read("application/json")).toMatchObject({ event });
  },
);
