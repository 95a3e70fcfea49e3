import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import type { AnySender } from "../../../../src/kit/senders/engine/sender.js";
import { SENDER_NAMES } from "../../../../src/kit/senders/records.js";
import { errorOf } from "../../signalbox-error-of.js";
import {
  deliveredOf,
  readingOf,
  senderOf,
  VECTORS,
  verdictOf,
  type Delivered,
  type Vector,
} from "./published-vectors.js";
import { startFor } from "./sender-rig.js";

const EACH = VECTORS.map(({ name, sender, vector }) => [name, sender, vector] as const);
/** A signature in a header, in hex or base64. */
const SIGNATURE = /[0-9a-f]{40,}|[A-Za-z0-9+/]{27,}={0,2}/g;
/** What stands between two signatures, of the senders that can send several. */
const BETWEEN: Readonly<Record<string, string>> = {
  stripe: ",",
  paddle: ";",
  "standard-webhooks": " ",
  svix: " ",
  gitlab: " ",
};
const OTHER_SECRET = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/** Of the header with the signature. */
function changeSignature(
  sender: AnySender,
  delivered: Delivered,
  change: (value: string) => string | readonly string[],
): Delivered {
  const value = change(delivered.headers[sender.signatureHeader] as string);
  return { ...delivered, headers: { ...delivered.headers, [sender.signatureHeader]: value } };
}

/** Signed here, with another secret. */
function signedAgain(sender: AnySender, vector: Vector, secret: string): Delivered {
  const delivered = deliveredOf(vector);
  const signed = sender.sign(delivered.body, { secret, now: vector.now, headers: vector.headers });
  return { ...delivered, headers: { ...vector.headers, ...signed } };
}

test("each sender has at least two vectors, one of an event, and each says where it is from", () => {
  for (const name of SENDER_NAMES) {
    const own = VECTORS.filter(({ file }) => file === name).map(({ vector }) => vector);
    expect(own.length, name).toBeGreaterThanOrEqual(2);
    expect(
      own.some(({ expected }) => expected !== null && "type" in expected),
      name,
    ).toBe(true);
    for (const { source } of own) expect(source, name).toMatch(/^https:\/\/[\w.]+\/\S+$/);
  }
});

test.each(EACH)(
  "%s is read as documented, the whole way through a receiver",
  async (_name, sender, vector) => {
    const { secret, headers, body, url, now, expected } = vector;
    const delivered = deliveredOf(vector);
    expect(verdictOf(sender, { ...delivered, secrets: [OTHER_SECRET, secret, "another"] })).toBe(1);
    const { handle, receiver } = await startFor(sender, secret, { now });
    const answer = await handle({ headers, body, url });
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
    expect((await handle({ headers, body, url })).status).toBe(200);
    expect(await receiver.inbox.list()).toHaveLength(1);
  },
);

interface Case {
  sender: AnySender;
  vector: Vector;
  delivered: Delivered;
}
type Changed = (each: Case) => Delivered | null;

const withBody =
  (change: (body: Buffer) => Buffer): Changed =>
  ({ delivered }) => ({ ...delivered, body: change(Buffer.from(delivered.body)) });
const withSecrets =
  (...secrets: string[]): Changed =>
  ({ delivered }) => ({ ...delivered, secrets });
/** The header with the signature. */
const withHeader =
  (change: (value: string) => string): Changed =>
  ({ sender, delivered }) =>
    changeSignature(sender, delivered, change);
/** Each signature in the header. */
const withSignature = (change: (text: string) => string): Changed =>
  withHeader((value) => value.replace(SIGNATURE, change));
const withOtherByte = (at: (length: number) => number): Changed =>
  withBody((body) => {
    const changed = Buffer.from(body);
    const index = at(body.length);
    changed[index] = (changed[index] as number) ^ 1;
    return changed;
  });
const isHex = ({ sender, vector }: Case) =>
  /[0-9a-f]{40}/.test(vector.headers[sender.signatureHeader] ?? "");

/** What a proxy does to a delivery, or somebody without the secret. */
const REFUSED: Readonly<Record<string, Readonly<Record<string, Changed>>>> = {
  signature_mismatch: {
    "another first byte": withOtherByte(() => 0),
    "another last byte": withOtherByte((length) => length - 1),
    "no last byte": withBody((body) => body.subarray(0, -1)),
    "a byte more": withBody((body) => Buffer.concat([body, Buffer.from("0")])),
    "a body that was parsed and written again": rewritten,
    "another signature": withSignature(
      (text) => (text.startsWith("a") ? "b" : "a") + text.slice(1),
    ),
    "base64 in small letters": (each) =>
      isHex(each) ? null : withSignature((text) => text.toLowerCase())(each),
    // Bits that are left over, which a decoder would ignore.
    "base64 with other last bits": (each) =>
      isHex(each) ? null : withSignature((text) => text.replace(/.=$/, "B="))(each),
    "the signature of another secret": ({ sender, vector }) =>
      signedAgain(sender, vector, OTHER_SECRET),
    "a later time": withLaterTime,
    "only another secret": withSecrets(OTHER_SECRET),
    "only a part of its secret": (each) => withSecrets(each.vector.secret.slice(0, -4))(each),
    "no secret": withSecrets(),
    "a blank secret": withSecrets("", " ", "\n"),
  },
  signature_malformed: {
    "a part of its signature": withSignature((text) => text.slice(1)),
    "a letter more in its signature": withSignature((text) => `a${text}`),
    "no text in its header": withSignature(() => ""),
    // `v1=`, `v0=`, `h1=`, `v1,` and `sha256=` become those of another version; where there is no
    // prefix, there is one.
    "another prefix": withHeader((text) =>
      /(v1|v0|h1|sha256)([=,])/.test(text)
        ? text.replace(/(v1|v0|h1|sha256)([=,])/g, "w9$2")
        : `sha256=${text}`,
    ),
    "a blank before": withHeader((value) => ` ${value}`),
    "hex in capitals": (each) =>
      isHex(each) ? withSignature((text) => text.toUpperCase())(each) : null,
    "base64 without its padding": (each) =>
      isHex(each) ? null : withSignature((text) => text.replace(/=$/, ""))(each),
    ...Object.fromEntries(
      ["", "0x5", "1e9", "soon", "-1"].map((time) => [
        `the time ${JSON.stringify(time)}`,
        ({ vector, delivered }: Case) => withTime(vector, delivered, () => time),
      ]),
    ),
  },
  signature_missing: {
    "no header of the signature": ({ sender, delivered }) => {
      const { [sender.signatureHeader]: _gone, ...headers } = delivered.headers;
      return { ...delivered, headers };
    },
  },
};

function rewritten(each: Case): Delivered | null {
  const { sender, vector } = each;
  const isForm = vector.headers["content-type"] === "application/x-www-form-urlencoded";
  // Of a form Twilio signs the fields, not the bytes.
  if (isForm && sender.name === "twilio") return null;
  return withBody((body) => {
    const text = body.toString();
    if (isForm)
      return Buffer.from(text.replaceAll(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase()));
    const isJson = /^[{[]/.test(text);
    return Buffer.from(isJson ? JSON.stringify(JSON.parse(text), null, 3) : `${text}\n`);
  })(each);
}

/** @returns null where no header has the time */
function withTime(
  { headers }: Vector,
  delivered: Delivered,
  change: (time: string) => string,
): Delivered | null {
  const time = Object.entries(headers).find(([name]) => /time-?stamp/.test(name));
  if (time === undefined) return null;
  const [name, value] = time;
  return { ...delivered, headers: { ...delivered.headers, [name]: change(value) } };
}

/** The time is signed: a captured delivery cannot get a new one. */
function withLaterTime({ sender, vector, delivered }: Case): Delivered | null {
  const listed = /(ts?=\d+)\d/;
  if (listed.test(vector.headers[sender.signatureHeader] ?? ""))
    return changeSignature(sender, delivered, (value) => value.replace(listed, "$19"));
  return withTime(vector, delivered, (value) => value.replace(/\d(?=Z?$)/, "7"));
}

test.each(EACH)("%s is refused with any change", (_name, sender, vector) => {
  const delivered = deliveredOf(vector);
  expect(verdictOf(sender, delivered)).toBe(0);
  for (const [reason, changes] of Object.entries(REFUSED)) {
    for (const [what, change] of Object.entries(changes)) {
      const changed = change({ sender, vector, delivered });
      if (changed !== null) expect(verdictOf(sender, changed), what).toBe(reason);
    }
  }
  for (const secret of ["", " ", "\n"])
    expect(errorOf(() => signedAgain(sender, vector, secret)).code).toBe("secret_invalid");
});

test.each(EACH)("%s is refused too early and too late", (_name, sender, vector) => {
  const delivered = deliveredOf(vector);
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

test.each(EACH)("%s with further signatures", (_name, sender, vector) => {
  const delivered = deliveredOf(vector);
  const between = BETWEEN[sender.name];
  const wrong = signedAgain(sender, vector, OTHER_SECRET).headers[sender.signatureHeader] as string;
  const verdict = (change: (value: string) => string | readonly string[]) =>
    verdictOf(sender, changeSignature(sender, delivered, change));
  // Sent twice, and so joined by whoever is first. Of a list, each candidate counts by itself, and
  // none may be there twice.
  expect(verdict((value) => [value, value])).toBe("signature_malformed");
  if (between === undefined) return;
  // Of a list with a time, such as `t=1,v1=ab`, the second part.
  const other = wrong.split(between).at(-1) as string;
  expect(verdict((value) => value + between + other)).toBe(0);
  const many = Array.from({ length: 20 }, () => other).join(between);
  expect(verdict((value) => value + between + many)).toBe("signature_malformed");
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

test("a prefix of a secret alone is no key: what is signed with the empty one is refused", () => {
  const body = Buffer.from('{"type":"ping"}');
  for (const key of ["", "whsec_"]) {
    const signature = createHmac("sha256", key).update("msg_1.1700000000.").update(body);
    const headers = {
      "webhook-id": "msg_1",
      "webhook-timestamp": "1700000000",
      "webhook-signature": `v1,${signature.digest("base64")}`,
    };
    const delivered = { headers, body, secrets: ["whsec_"], now: 1_700_000_000_000 };
    expect(verdictOf(senderOf("standard-webhooks"), delivered)).toBe("signature_mismatch");
  }
});
