import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Receiver } from "../../../../src/kit/index.js";
import { waitForEvent } from "../../../../src/kit/testing/index.js";
import { SIGNERS, type IndependentSigner, type Signed } from "./independent-signers.js";
import { samplesFor, type SampleDelivery } from "./sample-deliveries.js";
import { NOW, startFor } from "./sender-rig.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const MIB = 1024 * 1024;

const TABLE = JSON.parse(readFileSync(new URL("delivery-table.json", import.meta.url), "utf8")) as {
  /** When a sender tries for the last time, after the first try; and whether it signs then anew. */
  lastRetry: Record<string, { minutes: number; isSignedAnew: boolean }>;
  /** The largest body, where it is documented or limited here; 5 MiB for the others. */
  largest: Record<string, number>;
  /**
   * What becomes of each delivery. `repeated`: handed off with `possiblyRepeated`. `stored as ~`: a
   * conflict, which is handed off too. `captured`: by somebody who has read it, without the secret.
   */
  becomes: { of: string[]; outcomes: Record<string, string> }[];
};
const outcomesOf = ({ name }: IndependentSigner) =>
  TABLE.becomes.find(({ of }) => of.includes(name))?.outcomes ?? {};

interface Delivery extends Signed {
  body: Buffer;
}

/** A receiver and the sender's own first delivery of an event. */
async function rigOf(signer: IndependentSigner) {
  const repeated = new Map<string, boolean>();
  const { receiver, clock, heard, handle } = await startFor(signer.sender, signer.secret, {
    onEvent: (_event, { deliveryKey, possiblyRepeated }) => {
      repeated.set(deliveryKey.replace("default/", ""), possiblyRepeated);
    },
  });
  const [sample, older] = samplesFor(signer, NOW) as [SampleDelivery, SampleDelivery];
  const signed = (body: Buffer, id = sample.uuid): Delivery => {
    const { headers, ...others } = signer.sign({ body, now: clock.now(), id });
    return { headers: { ...sample.headers, ...headers }, body, ...others };
  };

  /** What became of a delivery, in the words of the table. */
  async function send(delivery: Delivery): Promise<string> {
    heard.length = 0;
    const before = await countOf(receiver);
    const { status } = await handle(delivery);
    const stored = (await countOf(receiver)) - before;
    expect(heard).toHaveLength(1);
    const [{ name, eventId = "", code }] = heard as [(typeof heard)[0]];
    expect(status).toBe(name === "rejected" ? (code === "body_too_large" ? 413 : 401) : 200);
    if (name === "rejected") return String(code);
    if (name === "conflict") return stored === 1 ? "stored as ~" : "conflict";
    if (name !== "accepted") return name;
    expect(stored).toBe(1);
    await waitForEvent(receiver, eventId);
    return repeated.get(eventId) === true ? "new, repeated" : "new";
  }

  return {
    receiver,
    clock,
    heard,
    handle,
    sample,
    older,
    signed,
    send,
    first: signed(sample.body),
  };
}
type Rig = Awaited<ReturnType<typeof rigOf>>;

const TYPE_HEADER = /(?:event|topic|event-name|message-type|subscription-type)$/;

/** With other values in these headers. */
function withHeaders(
  { headers, ...rest }: Delivery,
  isChanged: (name: string) => boolean,
  valueOf: (name: string) => string,
): Delivery {
  const all = Object.entries(headers).map(([name, value]) => [
    name,
    isChanged(name) ? valueOf(name) : value,
  ]);
  return { ...rest, headers: Object.fromEntries(all) as Record<string, string> };
}

/** The headers in which a delivery has its id. */
const isIdOf =
  ({ headers }: Delivery, { uuid }: SampleDelivery) =>
  (name: string) =>
    headers[name] === uuid && /id|key|delivery$/.test(name);

/** The same delivery under another type, made without the secret. */
function retyped(delivery: Delivery, type: string): Delivery {
  const isType = (name: string) => TYPE_HEADER.test(name);
  if (Object.keys(delivery.headers).some(isType))
    return withHeaders(delivery, isType, (name) =>
      /^(x-)?shopify/.test(name) ? "orders/edited" : "fork",
    );
  const word = type.split(".").at(-1) as string;
  return { ...delivery, body: Buffer.from(delivery.body.toString().replace(word, "other")) };
}

/** The same delivery under another id, made without the secret. */
function renamed({ first, sample }: Rig): Delivery {
  const { id } = sample.expected;
  const isId = isIdOf(first, sample);
  if (id === null || Object.keys(first.headers).some(isId))
    return withHeaders(first, isId, () => "00000000-0000-4000-8000-000000000000");
  const other = id.replace(/\d$/, (digit) => String(9 - Number(digit)));
  return { ...first, body: Buffer.from(first.body.toString().replace(id, other)) };
}

/**
 * Another body of the same event, such as one with other `pending_webhooks` or another
 * `notification_id`.
 */
function rewritten({ sample }: Rig): Buffer {
  const text = sample.body.toString();
  if (!text.startsWith("{")) return Buffer.from(`${text}&Changed=1`);
  const json = JSON.parse(text) as Record<string, unknown>;
  const other =
    "notification_id" in json ? { notification_id: "ntf_1" } : { pending_webhooks: "1" };
  return Buffer.from(JSON.stringify({ ...json, ...other }));
}

/** A body of the largest size, and so many bytes more. */
function largest({ name, sender }: IndependentSigner, body: Buffer, more = 0): Buffer {
  const size = (TABLE.largest[name] ?? TABLE.largest[sender.name] ?? 5 * MIB) + more;
  const isJson = body.toString("latin1", 0, 1) === "{";
  const start = Buffer.from(`${body.toString()}${isJson ? " " : "&Filler="}`);
  return Buffer.concat([start, Buffer.alloc(size - start.length, isJson ? " " : "x")]);
}

function lastRetry({ send, signed, sample, first, clock }: Rig, { sender }: IndependentSigner) {
  const { minutes = 0, isSignedAnew } = TABLE.lastRetry[sender.name] ?? {};
  clock.setNow(NOW + minutes * MINUTE);
  return send(isSignedAnew === true ? signed(sample.body) : first);
}

/**
 * What is done to the first delivery of an event, which has been received before unless it says
 * otherwise.
 */
const DO: Readonly<Record<string, (rig: Rig, signer: IndependentSigner) => Promise<string>>> = {
  "the same again": ({ send, first }) => send(first),
  "one more header": ({ send, first }) =>
    send({ ...first, headers: { ...first.headers, "x-forwarded-for": "192.0.2.1" } }),
  "captured: another id": (rig) => rig.send(renamed(rig)),
  "captured: another type": ({ send, first, sample }) => send(retyped(first, sample.expected.type)),
  "captured: another shop": ({ send, first }) => {
    const isShop = (name: string) => name.endsWith("shop-domain");
    return send(withHeaders(first, isShop, () => "other.myshopify.com"));
  },
  "captured: an hour later": ({ send, first, clock }) => {
    clock.setNow(NOW + HOUR);
    return send(first);
  },
  "sender: signed anew an hour later": ({ send, signed, sample, clock }) => {
    clock.setNow(NOW + HOUR);
    return send(signed(sample.body));
  },
  "sender: its last retry": lastRetry,
  "sender: other bytes, same id": (rig) => rig.send(rig.signed(rewritten(rig))),
  "sender: same bytes, new id": ({ send, signed, sample }) =>
    send(signed(sample.body, "11111111-1111-4111-8111-111111111111")),
  "its last retry, nothing came before": lastRetry,
  "after a capture under its id": async ({ send, signed, older, sample, first }) => {
    // Of an older event, which has not been received here before.
    const captured = signed(older.body, older.uuid);
    await send(withHeaders(captured, isIdOf(captured, older), () => sample.uuid));
    return send(first);
  },
  "after a capture of its type changed": async ({ send, first, sample }) => {
    await send(retyped(first, sample.expected.type));
    return send(first);
  },
  "the largest": ({ send, signed, sample }, signer) => send(signed(largest(signer, sample.body))),
  "a byte more": ({ send, signed, sample }, signer) =>
    send(signed(largest(signer, sample.body, 1))),
};

/** These come before the first delivery. */
const FRESH = new Set([
  "its last retry, nothing came before",
  "after a capture under its id",
  "after a capture of its type changed",
  "the largest",
  "a byte more",
]);

/** What came before the true event may not make it vanish. */
const BEFORE = /before$|^after/;
/**
 * It does where a secret in a header is all that is checked: who has read it can send anything, so
 * the docs say.
 */
const LOST = new Set(["gitlab, secret token: after a capture under its id"]);

/** Whether the true event is there, as it was sent. */
async function isStored({ receiver, sample: { expected, body } }: Rig): Promise<boolean> {
  const entries = await receiver.inbox.list();
  const found = await Promise.all(entries.map(({ eventId }) => receiver.inbox.get(eventId)));
  return found.some(
    (entry) =>
      entry?.type === expected.type &&
      entry.subject === expected.subject &&
      body.equals(entry.rawBody ?? Buffer.of()),
  );
}

test.each(SIGNERS)("$name: what becomes of each delivery", async (signer) => {
  const outcomes: Record<string, string> = {};
  for (const [change, apply] of Object.entries(DO)) {
    if (change === "captured: another shop" && signer.sender.name !== "shopify") continue;
    const rig = await rigOf(signer);
    if (!FRESH.has(change)) expect(await rig.send(rig.first)).toBe("new");
    outcomes[change] = await apply(rig, signer);
    if (BEFORE.test(change))
      expect(await isStored(rig), change).toBe(!LOST.has(`${signer.name}: ${change}`));
    await rig.receiver.close({ graceMs: 0 });
  }
  expect(outcomes).toEqual(outcomesOf(signer));
});

const countOf = async (receiver: Receiver) => (await receiver.inbox.list()).length;

test.each(SIGNERS)(
  "$name: twenty of one delivery at once are one event, beside twenty of a captured one",
  async (signer) => {
    const { receiver, heard, handle, first, sample } = await rigOf(signer);
    const captured = retyped(first, sample.expected.type);
    const all = Array.from({ length: 40 }, (_each, index) => (index % 2 === 0 ? captured : first));
    const answers = await Promise.all(all.map(handle));
    const became = outcomesOf(signer)["captured: another type"];
    const isUnsigned = became === "stored as ~";
    expect(await countOf(receiver)).toBe(isUnsigned ? 2 : 1);
    const [events, others] = [/accepted|quarantined/, /conflict/].map(
      (pattern) => heard.filter(({ name }) => pattern.test(name)).length,
    );
    expect([events, others]).toEqual([1, isUnsigned ? 1 : 0]);
    const taken = answers.filter(({ status }) => status === 200);
    expect(taken).toHaveLength(became === "signature_mismatch" ? 20 : 40);
  },
);
