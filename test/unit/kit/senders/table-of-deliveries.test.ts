import { expect, test } from "vitest";
import { createReceiver, type Receiver } from "../../../../src/kit/index.js";
import { memoryStore } from "../../../../src/kit/stores/memory.js";
import { createManualClock, waitForEvent } from "../../../../src/kit/testing/index.js";
import { CHANGES, TABLE, type Change, type Outcome } from "./delivery-table.js";
import { SIGNERS, type IndependentSigner, type Signed } from "./independent-signers.js";
import { samplesOf, type SampleDelivery } from "./sample-deliveries.js";

const NOW = Date.UTC(2026, 10, 28, 12);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const MIB = 1024 * 1024;

/** When the sender tries for the last time, after the first try; and whether it signs then anew. */
const LAST_RETRY: Readonly<Record<string, { after: number; isSignedAnew: boolean }>> = {
  "standard-webhooks": { after: 75.6 * HOUR, isSignedAnew: true },
  svix: { after: 27.6 * HOUR, isSignedAnew: true },
  stripe: { after: 3 * DAY, isSignedAnew: true },
  github: { after: 3 * DAY, isSignedAnew: false },
  gitlab: { after: 7 * DAY, isSignedAnew: true },
  shopify: { after: 4 * HOUR, isSignedAnew: false },
  slack: { after: 6 * MINUTE, isSignedAnew: true },
  paddle: { after: 3 * DAY, isSignedAnew: true },
  "lemon-squeezy": { after: 2.6 * MINUTE, isSignedAnew: false },
  linear: { after: 7 * HOUR + MINUTE, isSignedAnew: false },
  twilio: { after: 15_000, isSignedAnew: false },
  zoom: { after: 85 * MINUTE, isSignedAnew: false },
  meta: { after: 7 * DAY, isSignedAnew: false },
  twitch: { after: 9 * MINUTE, isSignedAnew: false },
};

/** The largest body of a sender, where it is documented or limited here; 5 MiB for the others. */
const LARGEST: Readonly<Record<string, number>> = {
  github: 25 * MIB,
  gitlab: 25 * MIB,
  meta: 3 * MIB,
  twilio: 512 * 1024,
  "standard-webhooks, v1a": MIB,
};

interface Delivery extends Signed {
  body: Buffer;
}

/** A receiver and the sender's own first delivery of an event. */
async function rigOf(signer: IndependentSigner) {
  const clock = createManualClock(NOW);
  const repeated = new Map<string, boolean>();
  const receiver = createReceiver({
    sender: signer.sender,
    secrets: signer.secret,
    store: memoryStore(),
    clock,
    logger: false,
    onEvent: (_event, { deliveryKey, possiblyRepeated }) => {
      repeated.set(deliveryKey.replace("default/", ""), possiblyRepeated);
    },
  });
  await receiver.start();
  const heard: { name: string; eventId: string; code?: string }[] = [];
  for (const name of ["accepted", "duplicate", "conflict", "quarantined", "rejected"] as const)
    receiver.on(name, (event) => heard.push({ name, ...event } as (typeof heard)[0]));

  const [sample, older] = samplesOf(signer.sender.name, NOW).filter(
    ({ headers }) =>
      signer.sender.name !== "shopify" ||
      "shopify-topic" in headers === signer.name.includes("Events"),
  ) as [SampleDelivery, SampleDelivery];
  const signed = (body: Buffer, id = sample.uuid): Delivery => {
    const { headers, url } = signer.sign({ body, now: clock.now(), id });
    return { headers: { ...sample.headers, ...headers }, body, ...(url !== undefined && { url }) };
  };

  /** What became of a delivery, in the words of the table. */
  async function send({ headers, body, url }: Delivery): Promise<Outcome> {
    heard.length = 0;
    const before = await countOf(receiver);
    const answer = await receiver.handle({ method: "POST", headers, body, url });
    const stored = (await countOf(receiver)) - before;
    const [{ name, eventId, code } = { name: "nothing", eventId: "", code: "" }] = heard;
    expect(heard).toHaveLength(1);
    expect(answer?.status).toBe(
      name === "rejected" ? (code === "body_too_large" ? 413 : 401) : 200,
    );
    if (name === "rejected") return code as Outcome;
    if (name === "conflict") return stored === 1 ? "stored as ~" : "conflict";
    if (name !== "accepted") return name as Outcome;
    expect(stored).toBe(1);
    await waitForEvent(receiver, eventId);
    return repeated.get(eventId) === true ? "new, repeated" : "new";
  }

  return { receiver, clock, sample, older, signed, send, first: signed(sample.body) };
}
type Rig = Awaited<ReturnType<typeof rigOf>>;

const TYPE_HEADER = /(?:event|topic|event-name|message-type|subscription-type)$/;

/** The same delivery under another type, made without the secret. */
function retyped({ headers, body, url }: Delivery, type: string): Delivery {
  const names = Object.keys(headers).filter((name) => TYPE_HEADER.test(name));
  const other = Object.fromEntries(
    names.map((name) => [name, /^(x-)?shopify/.test(name) ? "orders/edited" : "fork"]),
  );
  if (names.length > 0)
    return { headers: { ...headers, ...other }, body, ...(url !== undefined && { url }) };
  return {
    headers,
    body: Buffer.from(body.toString().replace(type.split(".").at(-1) as string, "other")),
    url: url ?? "",
  };
}

/** The same delivery under another id, made without the secret. */
function renamed({ headers, body, url }: Delivery, { sample }: Rig): Delivery {
  const { id } = sample.expected;
  const names = Object.keys(headers).filter(
    (name) => headers[name] === sample.uuid && /id|key|delivery$/.test(name),
  );
  const other = Object.fromEntries(
    names.map((name) => [name, "00000000-0000-4000-8000-000000000000"]),
  );
  const text = body.toString();
  const isInBody = id !== null && names.length === 0;
  const changed = isInBody
    ? text.replace(
        id,
        id.replace(/\d$/, (digit) => String(9 - Number(digit))),
      )
    : text;
  return {
    headers: { ...headers, ...other },
    body: Buffer.from(changed),
    ...(url !== undefined && { url }),
  };
}

/**
 * Another body of the same event, such as one with other `pending_webhooks` or another
 * `notification_id`.
 */
function rewritten({ sample }: Rig, change = "1"): Buffer {
  const text = sample.body.toString();
  if (!text.startsWith("{")) return Buffer.from(`${text}&Changed=${change}`);
  const { notification_id, ...json } = JSON.parse(text) as Record<string, unknown>;
  const other =
    notification_id === undefined
      ? { pending_webhooks: change }
      : { notification_id: `ntf_${change}` };
  return Buffer.from(JSON.stringify({ ...json, ...other }));
}

function padded(body: Buffer, size: number): Buffer {
  const filler = body.toString().startsWith("{") ? " " : "&Filler=";
  return Buffer.concat([
    body,
    Buffer.from(filler),
    Buffer.alloc(size - body.length - filler.length, filler === " " ? " " : "x"),
  ]);
}

/**
 * What is done to the first delivery of an event, which has been received before unless it says
 * otherwise.
 */
const DO: Readonly<Record<Change, (rig: Rig, signer: IndependentSigner) => Promise<Outcome>>> = {
  "the same again": ({ send, first }) => send(first),
  "one more header": ({ send, first }) =>
    send({ ...first, headers: { ...first.headers, "x-forwarded-for": "192.0.2.1" } }),
  "captured: another id": (rig) => rig.send(renamed(rig.first, rig)),
  "captured: another type": ({ send, first, sample }) => send(retyped(first, sample.expected.type)),
  "captured: another shop": ({ send, first }) =>
    send({
      ...first,
      headers: Object.fromEntries(
        Object.entries(first.headers).map(([name, value]) => [
          name,
          name.endsWith("shop-domain") ? "other.myshopify.com" : value,
        ]),
      ),
    }),
  "captured: an hour later": ({ send, first, clock }) => {
    clock.setNow(NOW + HOUR);
    return send(first);
  },
  "sender: signed anew an hour later": ({ send, signed, sample, clock }) => {
    clock.setNow(NOW + HOUR);
    return send(signed(sample.body));
  },
  "sender: its last retry": ({ send, signed, sample, first, clock }, { sender }) => {
    const { after, isSignedAnew } = LAST_RETRY[sender.name] as (typeof LAST_RETRY)[string];
    clock.setNow(NOW + after);
    return send(isSignedAnew ? signed(sample.body) : first);
  },
  "sender: other bytes, same id": (rig) => rig.send(rig.signed(rewritten(rig))),
  "sender: same bytes, new id": ({ send, signed, sample }) =>
    send(signed(sample.body, "11111111-1111-4111-8111-111111111111")),
  "its last retry, nothing came before": ({ send, signed, sample, first, clock }, { sender }) => {
    const { after, isSignedAnew } = LAST_RETRY[sender.name] as (typeof LAST_RETRY)[string];
    clock.setNow(NOW + after);
    return send(isSignedAnew ? signed(sample.body) : first);
  },
  "after a capture under its id": async (rig) => {
    // Of an older event, which has not been received here before.
    const older = rig.signed(rig.older.body, rig.older.uuid);
    const isId = (name: string) =>
      older.headers[name] === rig.older.uuid && /id|key|delivery$/.test(name);
    const headers = Object.entries(older.headers).map(([name, value]) => [
      name,
      isId(name) ? rig.sample.uuid : value,
    ]);
    await rig.send({ ...older, headers: Object.fromEntries(headers) as Record<string, string> });
    return rig.send(rig.first);
  },
  "after a capture of its type changed": async (rig) => {
    await rig.send(retyped(rig.first, rig.sample.expected.type));
    return rig.send(rig.first);
  },
  "the largest": async ({ send, signed, sample }, { name, sender }) =>
    send(signed(padded(sample.body, LARGEST[name] ?? LARGEST[sender.name] ?? 5 * MIB))),
  "a byte more": async ({ send, signed, sample }, { name, sender }) =>
    send(signed(padded(sample.body, 1 + (LARGEST[name] ?? LARGEST[sender.name] ?? 5 * MIB)))),
};

/** These come before the first delivery. */
const FRESH: ReadonlySet<Change> = new Set<Change>([
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

test("the table has each sender", () => {
  expect(Object.keys(TABLE)).toEqual(SIGNERS.map(({ name }) => name));
});

test.each(SIGNERS)("$name: what becomes of each delivery", async (signer) => {
  const outcomes: Partial<Record<Change, Outcome>> = {};
  for (const change of CHANGES) {
    if (change === "captured: another shop" && signer.sender.name !== "shopify") continue;
    const rig = await rigOf(signer);
    if (!FRESH.has(change)) expect(await rig.send(rig.first)).toBe("new");
    outcomes[change] = await DO[change](rig, signer);
    if (BEFORE.test(change))
      expect(await isStored(rig), change).toBe(!LOST.has(`${signer.name}: ${change}`));
    await close(rig.receiver);
  }
  expect(outcomes).toEqual(TABLE[signer.name]);
});

const countOf = async (receiver: Receiver) => (await receiver.inbox.list()).length;
const close = (receiver: Receiver) => receiver.close({ graceMs: 0 });

test.each(SIGNERS)(
  "$name: twenty of one delivery at once are one event, beside twenty of a captured one",
  async (signer) => {
    const { receiver, first, sample } = await rigOf(signer);
    const heard: string[] = [];
    for (const name of ["accepted", "duplicate", "conflict", "quarantined"] as const)
      receiver.on(name, () => heard.push(name));
    const captured = retyped(first, sample.expected.type);
    const all = Array.from({ length: 40 }, (_each, index) => (index % 2 === 0 ? captured : first));
    const answers = await Promise.all(
      all.map((each) => receiver.handle({ method: "POST", ...each })),
    );
    const isUnsigned = TABLE[signer.name]?.["captured: another type"] === "stored as ~";
    expect(await countOf(receiver)).toBe(isUnsigned ? 2 : 1);
    const [events, others] = [/accepted|quarantined/, /conflict/].map(
      (name) => heard.filter((each) => name.test(each)).length,
    );
    expect([events, others]).toEqual([1, isUnsigned ? 1 : 0]);
    const isRefused = TABLE[signer.name]?.["captured: another type"] === "signature_mismatch";
    expect(answers.filter((answer) => answer?.status === 200)).toHaveLength(isRefused ? 20 : 40);
    await close(receiver);
  },
);
