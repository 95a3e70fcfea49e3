import { expect, test } from "vitest";
import { createReceiver, type Clock } from "../../src/kit/index.js";
import { twilio } from "../../src/kit/senders/index.js";
import { memoryStore } from "../../src/kit/stores/memory.js";
import { createManualClock } from "../../src/kit/testing/index.js";
import { SEED, seededRandom } from "../faults/seeded-random.js";
import {
  signerOf,
  SIGNERS,
  type IndependentSigner,
} from "../unit/kit/senders/independent-signers.js";
import { samplesOf } from "../unit/kit/senders/sample-deliveries.js";

/*
 * Somebody holds some captured deliveries of each sender, of which half have been received, and
 * sends 100,000 changed ones.
 */

const DELIVERIES = 100_000;
/** Also one whose address the request may write. */
const ALL = [
  ...SIGNERS,
  {
    ...signerOf("twilio, SHA-1"),
    name: "twilio, any address",
    sender: twilio({ publicUrl: ({ url }) => `https://hooks.example${url}` }),
  },
];

const NOW = Date.UTC(2026, 10, 28, 12);
const CAPTURED = 6;

interface Request {
  method: string;
  headers: Record<string, string | readonly string[]>;
  body: Buffer;
  url?: string | undefined;
}
interface Captured extends Request {
  headers: Record<string, string>;
}

/** How old a delivery can be. Those that are not here sign no time. */
const TOLERANCE_SECONDS: Readonly<Record<string, number>> = {
  "standard-webhooks": 300,
  svix: 300,
  stripe: 300,
  "gitlab, signing token": 300,
  slack: 300,
  paddle: 300,
  linear: 172_500,
  zoom: 5700,
  twitch: 600,
};

const JUNK = [
  "\0\t ,;=.:%&?+/\"'{}[]~\\".split(""),
  [
    "é",
    "\ud800",
    "٣",
    "v1=",
    "v1,",
    "v1a,",
    "t=",
    "ts=",
    "h1=",
    "v0=",
    "sha256=",
    "sha1=",
    "NaN",
    "1e9",
    "-1",
    "0x10",
  ],
  [
    "0".repeat(64),
    "A".repeat(43),
    "9".repeat(12),
    "__proto__",
    "undefined",
    "payload=",
    "bodySHA256=",
    "&Body=x",
  ],
  ["2026-11-28T12:00:00Z", "v1=ab,".repeat(20), "a".repeat(300)],
].flat();

function createChanges(
  signer: IndependentSigner,
  captured: readonly Captured[],
  random: ReturnType<typeof seededRandom>,
) {
  const upTo = (limit: number) => Math.floor(random() * limit);
  const oneOf = <Item>(items: readonly Item[]): Item => items[upTo(items.length)] as Item;
  const insert = (text: string, part: string, at = upTo(text.length + 1)) =>
    text.slice(0, at) + part + text.slice(at);
  const headerOf = (name: string) => oneOf(captured).headers[name] ?? "";

  const ofValue: readonly ((value: string, name: string) => string | readonly string[])[] = [
    (value) => value.slice(0, upTo(value.length)),
    (value) => value.slice(upTo(value.length + 1)),
    (value) => insert(value, oneOf(JUNK)),
    (value) => value + oneOf(JUNK),
    (value) => oneOf(JUNK) + value,
    (value) => value.toUpperCase(),
    (value) => `${value}${oneOf(["=", "==", "a", "00"])}`,
    (value) => value.replace(/[0-9a-fA-F]/, (digit) => (digit === "0" ? "1" : "0")),
    (value) =>
      value.replace(/\d+/, (digits) => String(Number(digits) + oneOf([1, -1, 60, -3600, 1e6]))),
    (value) => value.replace(/[+/]/g, (letter) => (letter === "+" ? "-" : "_")),
    (value, name) => headerOf(name) || value,
    (value, name) => `${value}${oneOf([",", ", ", " ", ";", "; "])}${headerOf(name)}`,
    (value, name) => `${headerOf(name)}${oneOf([",", ", ", " ", ";"])}${value}`,
    (value, name) => [value, headerOf(name)],
    (value) => [value, value],
    () => "",
    () => [],
    () => oneOf(JUNK),
    () => `00000000-0000-4000-8000-${String(upTo(1e12)).padStart(12, "0")}`,
    () =>
      oneOf([
        "issues",
        "orders/paid",
        "notification",
        "application/json",
        "application/x-www-form-urlencoded",
      ]),
  ];
  const ofBody: readonly ((body: Buffer) => Buffer)[] = [
    (body) => {
      const changed = Buffer.from(body);
      changed[upTo(body.length)] = upTo(256);
      return changed;
    },
    (body) => body.subarray(0, upTo(body.length)),
    (body) => body.subarray(upTo(body.length)),
    (body) => Buffer.concat([body, Buffer.from(oneOf(JUNK))]),
    (body) => Buffer.from(insert(body.toString("latin1"), oneOf(JUNK)), "latin1"),
    (body) => Buffer.concat([body, body]),
    () => oneOf(captured).body,
    () =>
      Buffer.from(
        oneOf([
          "",
          "{}",
          "null",
          "[]",
          "payload={}",
          "[".repeat(3000),
          '{"challenge":"x"}',
          "ssl_check=1",
        ]),
      ),
    (body) => Buffer.from(body.toString().split("&").toReversed().join("&")),
    (body) => Buffer.from(body.toString().replace(/=([^&]*)&/, "$1=&")),
  ];
  const ofRequest: readonly ((request: Request) => void)[] = [
    (request) => (request.body = oneOf(ofBody)(request.body)),
    (request) =>
      (request.url = oneOf([
        undefined,
        "",
        "*",
        "/?",
        "http://%",
        insert(request.url ?? "/", oneOf(JUNK)),
      ])),
    (request) =>
      (request.url = `${request.url ?? "/"}${oneOf(["&a=1", "?", "#x", "&bodySHA256=", request.body.toString().slice(0, 50)])}`),
    // From the parameters into the address, and back.
    (request) => {
      const text = [...new URLSearchParams(request.body.toString())]
        .toSorted(([one], [other]) => (one < other ? -1 : 1))
        .flat()
        .join("");
      const count = upTo(text.length + 1);
      request.url += oneOf([text.slice(0, count), encodeURI(text.slice(0, count))]);
      request.body = Buffer.from(oneOf([text.slice(count), encodeURIComponent(text.slice(count))]));
    },
    (request) =>
      (request.url = request.url?.replace(
        /\w(?=\w*$)/,
        (letter) => `%${letter.charCodeAt(0).toString(16)}`,
      )),
    (request) => (request.method = oneOf(["GET", "PUT", "post", "OPTIONS", "HEAD", "", "POST"])),
    (request) =>
      (request.headers[
        oneOf(["content-encoding", "content-length", "content-type", "x-forwarded-host"])
      ] = oneOf(["gzip", "identity", "", "br, gzip", "0", "-5", "99999999999", "text/plain"])),
    (request) => void Object.assign(request.headers, oneOf(captured).headers),
    (request) => (request.body = oneOf(captured).body),
  ];
  const ofHeader: readonly ((request: Request, name: string, value: string) => void)[] = [
    ({ headers }, name) => void delete headers[name],
    ({ headers }, name, value) => {
      delete headers[name];
      headers[
        oneOf([
          name.toUpperCase(),
          ` ${name}`,
          `x-${name}`,
          name.replace(/^x-/, ""),
          name.replaceAll("-", "_"),
        ])
      ] = value;
    },
    // The same name in another case is a second header.
    ({ headers }, name, value) =>
      (headers[name.toUpperCase()] = oneOf([value, headerOf(name), oneOf(JUNK)])),
  ];
  const isSecret = (name: string) =>
    signer.sender.signatureHeaders.includes(name) || /id|time|topic|event/.test(name);

  return (): Request & { seconds: number } => {
    const from = oneOf(captured);
    const request: Request = { ...from, headers: { ...from.headers } };
    for (let count = upTo(3); count >= 0; count--) {
      const names = [...Object.keys(request.headers), "x"];
      const wanted = names.filter(isSecret);
      const name = oneOf(random() < 0.7 && wanted.length > 0 ? wanted : names);
      const value = String(request.headers[name] ?? "");
      const kind = random();
      if (kind < 0.5) request.headers[name] = oneOf(ofValue)(value, name);
      else if (kind < 0.65) oneOf(ofHeader)(request, name, value);
      else oneOf(ofRequest)(request);
    }
    const seconds =
      random() < 0.9 ? 0 : oneOf([-1, 1]) * oneOf([1, 299, 301, 601, 5701, 86_400, 172_801, 1e7]);
    return { ...request, seconds };
  };
}

async function startReceiver({ sender, secret }: IndependentSigner, clock: Clock) {
  const receiver = createReceiver({
    sender,
    secrets: secret,
    store: memoryStore(),
    onEvent: () => {},
    clock,
    logger: false,
  });
  await receiver.start();
  return receiver;
}

const STATUSES = new Set([200, 401, 403, 405, 408, 413, 415]);

test(
  `${DELIVERIES} changed deliveries: nothing forged or stale comes in, and no event twice`,
  { timeout: 600_000 },
  async () => {
    const random = seededRandom(SEED);
    const outcomes = new Map<string, number>();
    for (const signer of ALL) {
      const { sender, secret, name } = signer;
      const clock = createManualClock(NOW);
      const receiver = await startReceiver(signer, clock);
      let heard: { outcome: string; eventId: string } | null = null;
      for (const outcome of ["accepted", "quarantined", "conflict", "duplicate"] as const)
        receiver.on(outcome, ({ eventId }) => (heard = { outcome, eventId }));

      const samples = samplesOf(sender.name, NOW).filter(
        ({ headers }) =>
          sender.name !== "shopify" || "shopify-topic" in headers === name.includes("Events"),
      );
      const captured = samples.slice(0, CAPTURED).map(({ body, headers, uuid }): Captured => {
        const signed = signer.sign({ body, now: NOW, id: uuid });
        return {
          method: "POST",
          headers: { ...headers, ...signed.headers },
          body,
          url: signed.url,
        };
      });
      // What each is when it comes unchanged, in a receiver of its own.
      const genuine = new Map<string, string>();
      const model = await startReceiver(signer, clock);
      for (const delivery of captured) await model.handle(delivery);
      const factsOf = (of: typeof receiver, eventId: string) =>
        of.inbox.get(eventId).then((entry) =>
          // The borders of Twilio's text can be moved: it is the same event, with other names.
          JSON.stringify(
            sender.name === "twilio"
              ? eventId
              : [eventId, entry?.type, entry?.subtype, entry?.subject, entry?.rawBody],
          ),
        );
      for (const { eventId } of await model.inbox.list())
        genuine.set(eventId, await factsOf(model, eventId));
      await model.close();
      expect(genuine.size, name).toBe(captured.length);
      for (const delivery of captured.slice(0, CAPTURED / 2)) await receiver.handle(delivery);

      const tolerance = TOLERANCE_SECONDS[name] ?? TOLERANCE_SECONDS[sender.name] ?? Infinity;
      const change = createChanges(signer, captured, random);
      const stored = new Set((await receiver.inbox.list()).map(({ eventId }) => eventId));
      for (let count = Math.ceil(DELIVERIES / ALL.length); count > 0; count--) {
        const { seconds, ...request } = change();
        const what = () =>
          `FAULT_SEED=${SEED}, ${name}: ${JSON.stringify({ ...request, body: request.body.toString(), seconds, heard })}`;
        clock.setNow(NOW + seconds * 1000);
        heard = null;
        // In a buffer of its own, as some frameworks give it: one of Node is a part of a larger
        // one.
        const answer = await receiver.handle({ ...request, body: Uint8Array.from(request.body) });
        if (answer === null || !STATUSES.has(answer.status))
          throw new Error(`answer ${answer?.status} to ${what()}`);
        const { outcome = String(answer.status), eventId = "" } = (heard ?? {}) as {
          outcome?: string;
          eventId?: string;
        };
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        if (heard === null) continue;
        if (Math.abs(seconds) > tolerance + 1) throw new Error(`stale, but ${outcome}: ${what()}`);
        if (outcome === "duplicate") continue;
        if (stored.has(eventId)) throw new Error(`twice: ${what()}`);
        stored.add(eventId);
        const facts = await factsOf(receiver, eventId);
        if (genuine.get(eventId) === facts) continue;
        // Who has read a token can send anything; without it, nothing.
        const isToken =
          name === "gitlab, secret token" && Object.values(request.headers).flat().includes(secret);
        const { rawBody } = (await receiver.inbox.get(eventId)) ?? {};
        const isCapturedBody =
          sender.unsignedId && captured.some(({ body }) => body.equals(rawBody ?? Buffer.of()));
        if (!isToken && !isCapturedBody) throw new Error(`forged, ${outcome}: ${what()}`);
      }
      await receiver.close({ graceMs: 0 });
    }
    // Each comes often, so that the changes are neither harmless nor all too coarse.
    for (const outcome of ["accepted", "duplicate", "conflict", "quarantined", "401"])
      expect(outcomes.get(outcome), outcome).toBeGreaterThan(DELIVERIES / 1000);
  },
);
