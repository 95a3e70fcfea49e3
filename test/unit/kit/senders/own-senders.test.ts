import { createHmac, generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createReceiver } from "../../../../src/kit/index.js";
import {
  readable,
  type SenderDefinition,
} from "../../../../src/kit/senders/engine/define-sender.js";
import type { SignatureScheme } from "../../../../src/kit/senders/engine/scheme.js";
import { standardWebhooks } from "../../../../src/kit/senders/index.js";
import { memoryStore } from "../../../../src/kit/stores/memory.js";
import { inboxPage } from "../../../../src/page/inbox/inbox-page.js";
import { logLines } from "../../../http/log-lines.js";
import { listen } from "../../../http/serve.js";
import { verdictOf } from "./published-vectors.js";
import { NOW, own, startFor } from "./sender-rig.js";

const SECRET = "a secret of ours";
const BODY = Buffer.from('{"id":"evt_1","type":"invoice.paid"}');
const MIB = 1024 * 1024;
const MISMATCH = "signature_mismatch";
const MALFORMED = "signature_malformed";

/** A scheme with a signature that openssl made, or that a sender or its library publishes. */
interface Known {
  name: string;
  scheme: SignatureScheme;
  secret?: string;
  headers: Record<string, string>;
  body?: string;
  now?: number;
  /** What other values of the header of the signature are. */
  taken?: string[];
  mismatched?: string[];
  malformed?: string[];
}
const DATA = JSON.parse(readFileSync(new URL("own-senders.json", import.meta.url), "utf8")) as {
  signed: Known[];
  /** What becomes of deliveries with these headers. */
  headers: {
    what: string;
    signature: SenderDefinition["signature"];
    secret: string;
    outcomes: Record<string, Record<string, string | string[]>[]>;
  }[];
  times: { form: "seconds" | "milliseconds" | "iso"; right: string[]; wrong: string[] }[];
  /** What a mistake in a definition would let in, or would make useless without a word. */
  refused: { what: string; definition: Partial<SenderDefinition>; option: string }[];
};
const KNOWN = DATA.signed;

test.each(KNOWN)("$name: its signature is accepted, no other, and the same is made", (known) => {
  const { scheme, headers, secret = SECRET, now = 1, body = String(BODY) } = known;
  const sender = own({ signature: scheme });
  const name = sender.signatureHeader;
  const verdict = (changes: object = {}) =>
    verdictOf(sender, { headers, body: Buffer.from(body), secrets: [secret], now, ...changes });
  expect(sender.secretProblem(secret)).toBeNull();
  const { taken = [], mismatched = [], malformed = [] } = known;
  for (const [values, wanted] of [
    [[headers[name], ...taken], 0],
    [mismatched, MISMATCH],
    [malformed, MALFORMED],
  ] as const)
    for (const value of values)
      expect(verdict({ headers: { ...headers, [name]: value } })).toBe(wanted);
  expect(verdict({ body: Buffer.from(`${body} `) })).toBe(MISMATCH);
  const other = KNOWN.find((each) => each.secret !== known.secret)?.secret ?? "";
  expect(verdict({ secrets: [other] })).toBe(MISMATCH);
  for (const ms of [-301_000, 301_000])
    expect(verdict({ now: now + ms })).toBe(
      scheme.time === undefined ? 0 : "timestamp_out_of_tolerance",
    );
  if (/^e[cd]/.test(String(scheme.digest))) return;
  const made = sender.sign(Buffer.from(body), { secret, now });
  // Of several signatures it makes one, and without padding where it may be left out.
  const signature = (value = "") => value.split(",").at(-1)?.replace(/=+$/, "");
  expect(signature(made[name])).toBe(signature(headers[name]));
  expect(verdict({ headers: made })).toBe(0);
});

const PAIRS = {
  ed25519: () => generateKeyPairSync("ed25519"),
  ecdsa: () => generateKeyPairSync("ec", { namedCurve: "P-256" }),
  "rsa-sha256": () => generateKeyPairSync("rsa", { modulusLength: 2048 }),
} as const;
type Digest = keyof typeof PAIRS;
const pemsOf = ({ publicKey, privateKey }: ReturnType<(typeof PAIRS)["ecdsa"]>) => ({
  known: String(publicKey.export({ format: "pem", type: "spki" })),
  secret: String(privateKey.export({ format: "pem", type: "pkcs8" })),
});

test.each(Object.keys(PAIRS) as Digest[])(
  "a signature by %s is accepted with its public key alone, which is no secret of an HMAC",
  (digest) => {
    const [pair, other] = [pemsOf(PAIRS[digest]()), pemsOf(PAIRS[digest]())];
    const wrongKind = pemsOf(PAIRS[digest === "ecdsa" ? "ed25519" : "ecdsa"]()).known;
    for (const encoding of ["base64", "hex"] as const) {
      const sender = own({ signature: { header: "x-own", digest, encoding } });
      const signedBy = (secret: string) => sender.sign(BODY, { secret, now: 1 });
      const verdict = (headers: Record<string, string>, secret = pair.known, body = BODY) =>
        verdictOf(sender, { headers, body, secrets: [secret], now: 1 });
      const signed = signedBy(pair.secret);
      expect(verdict(signed)).toBe(0);
      expect(verdict(signed, pair.known, Buffer.from("{}"))).toBe(MISMATCH);
      expect(verdict(signedBy(other.secret))).toBe(MISMATCH);
      for (const key of ["", "00", "zz", SECRET, wrongKind, pair.secret]) {
        expect(verdict(signed, key)).toBe(MISMATCH);
        expect(sender.secretProblem(key)).toContain("public key");
      }
      const hmac = createHmac("sha512", pair.known).update(BODY).digest(encoding);
      expect(verdict({ "x-own": hmac })).not.toBe(0);
    }
  },
);

test.each(DATA.times)(
  "a time in $form is taken as such, and no other text",
  ({ form, right, wrong }) => {
    const time = { header: "x-time", form };
    const sender = own({ signature: { header: "x-own", time, message: ["time", "body"] } });
    // Also when the sender signed it.
    const at = (text: string, now = 1_700_000_000_000) => {
      const { sign } = own({ signature: { header: "x-own", message: [text, "body"] } });
      const headers = { ...sign(BODY, { secret: SECRET, now: 1 }), "x-time": text };
      return verdictOf(sender, { headers, body: BODY, secrets: [SECRET], now });
    };
    for (const text of right)
      expect([at(text), at(text, 1_700_000_301_000)]).toEqual([0, "timestamp_out_of_tolerance"]);
    for (const text of wrong)
      expect(at(text), text).toBeOneOf([MALFORMED, "timestamp_out_of_tolerance"]);
  },
);

test.each(DATA.headers)("$what: equal ones are one, different ones are malformed", async (row) => {
  for (const [outcome, all] of Object.entries(row.outcomes)) {
    for (const headers of all) {
      const { send } = await startFor(own({ signature: row.signature }), row.secret);
      expect(await send({ headers, body: BODY }), JSON.stringify(headers)).toBe(outcome);
    }
  }
});

test("a function verifies with each secret, and true alone is authentic", async () => {
  const seen: unknown[] = [];
  let answer: (secret: string) => unknown = (secret) => secret === "second";
  const verify: SenderDefinition["verify"] = ({ secret, now }) => {
    seen.push([secret, now]);
    return answer(secret) as boolean;
  };
  const { send, receiver } = await startFor(own({ verify }), ["first", "second"]);
  const sent = { headers: {}, body: BODY };
  for (answer of [
    () => false,
    () => "yes",
    () => 1,
    () => ({}),
    () => undefined,
    () => Promise.resolve("yes"),
    () => expect.fail("thrown"),
    () => Promise.reject(new Error("down")),
  ])
    expect(await send(sent), String(answer)).toBe(MISMATCH);
  expect(await receiver.inbox.list()).toEqual([]);
  answer = (secret) => Promise.resolve(secret === "second");
  expect(await send(sent)).toBe("accepted");
  expect(seen.slice(-2)).toEqual([
    ["first", NOW],
    ["second", NOW],
  ]);
});

test("a function that never ends: the sender gets 503 at the deadline, and the memory is free again", async () => {
  let calls = 0;
  const verify = () => (++calls > 2 ? true : new Promise<boolean>(() => undefined));
  const limits = { ackTimeoutMs: 2000, bodyLimitBytes: MIB };
  const maxQueued = { bytes: MIB };
  const { handle, send, clock } = await startFor(own({ verify, ...limits }), SECRET, { maxQueued });
  const sent = { headers: {}, body: BODY.toString().padEnd(0.6 * MIB) };
  const [first, second] = [handle(sent), handle(sent)];
  // Both do not fit: the older one makes room.
  expect((await first).body).toContain("overloaded");
  await clock.advance(2000);
  expect((await second).body).toContain("ack_timeout");
  expect(await send(sent)).toBe("accepted");
});

const BASIC = { basic: true } as const;
const TWO_NAMES = { header: ["x-token", "x-other-token"], token: true } as const;
const base64Of = (length: number) => Buffer.alloc(length, 7).toString("base64");
const made = (sender: object, secrets: unknown) =>
  createReceiver({ sender, secrets, store: memoryStore(), onEvent: () => {} } as never);

test("a decoded key has at least 16 bytes, and a password a colon", () => {
  expect(() => made(own({ signature: BASIC }), SECRET)).toThrow("user:password");
  const [short, enough] = [base64Of(15), base64Of(16)];
  for (const secret of [short, `whsec_${short}`, "whsec_A==", "whsec_", "whsec_not base64"])
    expect(() => made(standardWebhooks(), secret), secret).toThrow("at least 16 bytes");
  for (const secret of [enough, `whsec_${enough}`, `v1,whsec_${enough}`])
    made(standardWebhooks(), secret);
});

test("no secret has blanks around it, at the start and at each look-up", async () => {
  const sender = own({ signature: { header: "x-sign" } });
  for (const each of [sender, own({ signature: TWO_NAMES }), own({ signature: BASIC })])
    for (const secret of ["us:er\n", " us:er", "\tus:er", "us:er\u00a0"])
      for (const secrets of [secret, ["us:er", secret]])
        expect(() => made(each, secrets), JSON.stringify(secret)).toThrow(/secret/);

  let current: string | string[] = SECRET;
  const { send } = await startFor(sender, () => current);
  const signedWith = (secret: string) => ({
    headers: sender.sign(BODY, { secret, now: 1 }),
    body: BODY,
  });
  for (current of [` ${SECRET}`, [SECRET, `${SECRET} `]])
    for (const secret of [SECRET, `${SECRET} `])
      expect(await send(signedWith(secret))).toBe("secret_unavailable");
  current = SECRET;
  expect(await send(signedWith(SECRET))).toBe("accepted");
});

test.each([
  ...DATA.refused,
  {
    what: "an address of a function that touches the body",
    definition: {
      publicUrl: () => "https://a.example",
      signature: { header: "x-own", message: ["url", "body"] },
    },
    option: "signature.message",
  },
  {
    what: "both a signature and a function",
    definition: { signature: { header: "x-own" }, verify: () => true },
    option: "signature",
  },
])("a definition with $what is refused", ({ definition, option }) => {
  expect(() => own(definition)).toThrow(`"${option}"`);
});

test.each<[SenderDefinition["signature"], Record<string, string>, secret: string]>([
  [{ ...TWO_NAMES, id: "x-id" }, { "x-token": "top-secret-1", "x-id": "7" }, "top-secret-1"],
  [TWO_NAMES, { "x-other-token": "top-secret-1" }, "top-secret-1"],
  [BASIC, { authorization: "Basic dG9wOnNlY3JldC0x" }, "top:secret-1"],
])(
  "a secret in a header is in no row, hand-off, health, log or answer of the page: %j",
  async (signature, headers, secret) => {
    const { logger, lines: shown } = logLines();
    const onEvent = (event: unknown, handoff: { headers: object }) => {
      shown.push(JSON.stringify([event, handoff, Object.entries(handoff.headers)]));
      throw new Error("fails");
    };
    const sender = own({ signature, headers: ["x-topic"] });
    const { send, receiver } = await startFor(sender, secret, { logger, onEvent });
    const wrong = Object.entries(headers).map(([name, value]) => [name, value.replace(/.$/, "!")]);
    for (const [outcome, sent, body = BODY] of [
      ["accepted", { ...headers, "x-topic": "t", "user-agent": "sender/1" }],
      ["encoding_unsupported", { ...headers, "content-encoding": "gzip" }],
      [MISMATCH, Object.fromEntries(wrong) as Record<string, string>],
      ["quarantined", headers, "no json"],
    ] as const)
      expect(await send({ headers: sent, body })).toBe(outcome);
    const entries = await receiver.inbox.list();
    expect(entries).toHaveLength(2);
    const port = await listen(inboxPage(receiver, { authorize: () => true }));
    const paths = ["events", "overview", "export"];
    for (const { eventId } of entries) {
      shown.push(JSON.stringify(await receiver.inbox.get(eventId)));
      paths.push(`event?endpoint=default&id=${encodeURIComponent(eventId)}`);
    }
    for (const path of paths) {
      const answer = await fetch(`http://127.0.0.1:${port}/api/${path}`);
      expect(answer.status, path).toBe(200);
      shown.push(await answer.text());
    }
    shown.push(JSON.stringify([receiver.health(), await receiver.inbox.stats()]));
    const all = shown.join("\n");
    expect(all).toContain("sender/1");
    for (const hidden of [secret, Buffer.from(secret).toString("base64")])
      expect(all).not.toContain(hidden);
  },
);

test("a copy of a delivery has its bytes and headers alone, so that nothing is read before it is asked for", () => {
  const copies: object[] = [];
  const sender = own({
    signature: { header: "x-own" },
    read: (delivery) => {
      copies.push({ ...delivery });
      return { id: null, type: delivery.form["type"] };
    },
  });
  const body = Buffer.from("type=sms");
  expect(sender.read(readable(body, {}))).toMatchObject({ kind: "event", type: "sms" });
  expect(copies).toEqual([{ body, headers: {} }]);
});
