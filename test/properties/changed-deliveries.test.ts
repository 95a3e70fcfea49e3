import { expect, test } from "vitest";
import { createReceiver } from "../../src/kit/index.js";
import type { AnySender } from "../../src/kit/senders/engine/sender.js";
import { memoryStore } from "../../src/kit/stores/memory.js";
import { createManualClock } from "../../src/kit/testing/index.js";
import {
  deliveredOf,
  readingOf,
  VECTORS,
  verdictOf,
  type Delivered,
} from "../unit/kit/senders/published-vectors.js";

const SEED = 20_261_126;
const DELIVERIES = 100_000;
const HANDLED = 3_000;

/** Numbers from 0 to 1, always the same for a seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const JUNK = [
  "\0\r\n\t ,;=.:%&?+/\"'{}[]\\".split(""),
  ["é", "♥", "\u{1f600}", "\ud800", "İ", "٣"],
  [
    "v1=",
    "v1,",
    "t=",
    "ts=",
    "h1=",
    "v0=",
    "sha256=",
    "sha1=",
    "whsec_",
    "NaN",
    "Infinity",
    "1e99",
    "-1",
    "0x10",
  ],
  [
    "a".repeat(40),
    "0".repeat(64),
    "A".repeat(43),
    "9".repeat(12),
    "__proto__",
    "constructor",
    "null",
    "undefined",
  ],
  ["2023-02-30T25:61:61Z", "v1=ab,".repeat(50)],
].flat();

/** Changes that an attacker, or a proxy, could make of what was sent. */
function createChanges(random: () => number) {
  const upTo = (limit: number) => Math.floor(random() * limit);
  const oneOf = <Item>(items: readonly Item[]): Item => items[upTo(items.length)] as Item;
  const other = () => oneOf(VECTORS).vector;
  const insert = (text: string, part: string) => {
    const at = upTo(text.length + 1);
    return text.slice(0, at) + part + text.slice(at);
  };

  const texts: readonly ((text: string) => string)[] = [
    (text) => text.slice(0, upTo(text.length)),
    (text) => text.slice(upTo(text.length + 1)),
    (text) => insert(text, oneOf(JUNK)),
    (text) => oneOf(JUNK) + text,
    (text) => text + oneOf(JUNK),
    (text) => text.toUpperCase(),
    (text) => `${text}, ${text}`,
    (text) => `${text},${oneOf(Object.values(other().headers))}`,
    (text) => insert(text.slice(1), String(upTo(10))),
    (text) => text.replace(/\d/, () => String(upTo(10))),
    (text) => text.replace(/[0-9a-f](?=[0-9a-f]{30})/, () => oneOf("0123456789abcdef".split(""))),
    (text) =>
      text
        .split(oneOf([",", ";", " ", "=", "."]))
        .toReversed()
        .join(oneOf([",", ";", " ", "="])),
    () => oneOf(Object.values(other().headers)),
    () => oneOf(JUNK),
    () => "",
    () => Array.from({ length: upTo(200) }, () => String.fromCharCode(upTo(300))).join(""),
  ];
  const bodies: readonly ((body: Uint8Array) => Uint8Array)[] = [
    (body) =>
      body.map((byte, index) => (index === Math.floor(random() * body.length) ? upTo(256) : byte)),
    (body) => body.subarray(0, upTo(body.length)),
    (body) => Buffer.concat([body, Buffer.from(oneOf(JUNK))]),
    (body) => Buffer.concat([Buffer.from("\ufeff"), body]),
    () => Uint8Array.from({ length: upTo(80) }, () => upTo(256)),
    () => Buffer.from(other().body),
    () =>
      Buffer.from(
        oneOf([
          "",
          "null",
          "[]",
          "{}",
          "1",
          '"a"',
          "{",
          "[".repeat(2_000),
          '{"__proto__":{"type":1}}',
        ]),
      ),
    () => Buffer.from(insert(other().body, oneOf(JUNK))),
  ];

  return function change(delivered: Delivered): Delivered {
    const headers: Record<string, string | readonly string[]> = { ...delivered.headers };
    let { body, url, now } = delivered;
    for (let count = upTo(3); count >= 0; count--) {
      const kind = upTo(10);
      const name = oneOf(Object.keys(headers).length === 0 ? ["x"] : Object.keys(headers));
      const value = String(headers[name] ?? "");
      if (kind < 5) headers[name] = oneOf(texts)(value);
      else if (kind === 5) headers[name] = [value, oneOf(texts)(value)];
      else if (kind === 6) delete headers[name];
      else if (kind === 7) {
        const { [name]: given = "" } = headers;
        delete headers[name];
        headers[name.toUpperCase()] = given;
      } else if (kind === 8) body = oneOf(bodies)(body);
      else if (random() < 0.5)
        url = oneOf([undefined, oneOf(texts)(url ?? "/"), `${url ?? ""}&a=1`, "*", "http://%"]);
      else now += oneOf([-1, 1, NaN, 1e9, -400_000, 400_000]);
    }
    return {
      headers,
      body,
      url,
      now,
      secrets: oneOf([delivered.secrets, [...delivered.secrets, "another"], ["another"], []]),
    };
  };
}

/**
 * What of a delivery its signature covers, and one of its signatures: who has not the secret can
 * only send these again.
 */
function signedPartsOf(sender: AnySender, { headers, body }: Delivered): string {
  const valueOf = (name: string) =>
    Object.entries(headers)
      .flatMap(([key, value]) => (key.toLowerCase() === name ? [value].flat() : []))
      .join(", ");
  const signature = valueOf(sender.signatureHeader);
  const isForm = sender.name === "twilio" && !/^\s*[{[]/.test(Buffer.from(body).toString("latin1"));
  // Of a form Twilio signs each value of a field once, and neither the order nor the spelling.
  const fields = () =>
    [
      ...new Set(
        [...new URLSearchParams(Buffer.from(body).toString())].map((pair) => pair.join("=")),
      ),
    ].sort();
  return JSON.stringify([
    isForm ? fields() : Buffer.from(body).toString("base64"),
    valueOf(
      ["standard-webhooks", "svix", "twitch"].includes(sender.name)
        ? (sender.keptHeaders.find((name) => name.endsWith("-id")) ?? "")
        : "",
    ),
    valueOf(sender.keptHeaders.find((name) => name.endsWith("timestamp")) ?? ""),
    ["stripe", "paddle"].includes(sender.name) && /(?:^|[,;])(ts?=\d+)/.exec(signature)?.[1],
  ]);
}

const PROBLEMS = [
  "signature_missing",
  "signature_malformed",
  "signature_mismatch",
  "timestamp_out_of_tolerance",
];

test(`${DELIVERIES} changed deliveries: none throws, each gets one verdict, and none is forged`, () => {
  const change = createChanges(randomOf(SEED));
  const counts = new Map<unknown, number>();
  for (let index = 0; index < DELIVERIES; index++) {
    const { sender, vector, name } = VECTORS[index % VECTORS.length] as (typeof VECTORS)[number];
    const sent = deliveredOf(vector);
    const received = change(sent);
    const verdict = verdictOf(sender, received);
    const reading = readingOf(sender, received);
    counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
    if (!/^(event|unusable)$/.test(reading.kind))
      throw new Error(`${name} was read as ${reading.kind}`);
    if (typeof verdict !== "number") continue;
    if (signedPartsOf(sender, received) !== signedPartsOf(sender, sent))
      throw new Error(
        `${name} was forged: ${JSON.stringify({ ...received, body: Buffer.from(received.body).toString() })}`,
      );
  }
  // Each of them comes often, so that the changes are neither harmless nor all too coarse.
  expect(new Set(counts.keys())).toEqual(new Set([0, ...PROBLEMS]));
  for (const [verdict, count] of counts)
    expect(count, String(verdict)).toBeGreaterThan(DELIVERIES / 500);
});

test(`${HANDLED} changed deliveries through receivers: each gets one answer`, async () => {
  const change = createChanges(randomOf(SEED + 1));
  for (const { sender, vector } of VECTORS) {
    const clock = createManualClock(vector.now);
    const options = {
      sender,
      secrets: vector.secret,
      store: memoryStore(),
      onEvent: () => {},
      clock,
      logger: false,
    } as const;
    const receiver = createReceiver(options);
    await receiver.start();
    const answers = await Promise.all(
      Array.from({ length: Math.ceil(HANDLED / VECTORS.length) }, async () => {
        const received = change(deliveredOf(vector));
        const isAuthentic =
          typeof verdictOf(sender, { ...received, secrets: [vector.secret], now: vector.now }) ===
          "number";
        const { headers, body, url } = received;
        return [
          isAuthentic,
          (await receiver.handle({ method: "POST", headers, body, url }))?.status ?? 0,
        ] as const;
      }),
    );
    for (const [isAuthentic, status] of answers)
      expect(status).toBeOneOf(isAuthentic ? [200, 403] : [401, 415]);
    await receiver.close();
  }
});
