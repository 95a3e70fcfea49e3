import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { AnySender } from "../../../../src/kit/senders/engine/sender.js";
import { SENDER_NAMES } from "../../../../src/kit/senders/records.js";
import { signerOf, SIGNERS } from "./independent-signers.js";
import {
  readingOf,
  senderOf,
  verdictOf,
  VERIFY_TOKEN,
  type Delivered,
} from "./published-vectors.js";
import { samplesFor } from "./sample-deliveries.js";
import { startFor, type Sent } from "./sender-rig.js";

// A sender asks a receiver to answer a token. Zoom even has it signed, with the secret of the
// deliveries. Whoever can choose the token must not get a signature of a delivery by it.

const NOW = 1_700_000_000_000;
/** One that each sender takes. */
const SECRET = signerOf("stripe").secret;

/** How each sender asks: the body that carries a token, as a value of JSON. */
const ASKING = ["slack", "zoom", "twitch"].map((name) => [name, askingOf(name)] as const);

function askingOf(name: string) {
  const text = readFileSync(new URL("handshakes.json", import.meta.url), "utf8");
  const { body, headers } = (
    JSON.parse(text) as Record<string, { body: string; headers: Headers }>
  )[name] as { body: string; headers: Headers };
  return (token: string) => ({ body: body.replace("{token}", () => token), headers });
}
type Headers = Record<string, string>;

/** A receiver of such a sender, and what it answers to a body that was signed. */
async function askedOf(name: string) {
  const sender = senderOf(name);
  const { handle, receiver } = await startFor(sender, SECRET, { now: NOW });
  const askSigned = ({ body, headers }: Sent, secret = SECRET, now = NOW) =>
    handle({
      body,
      headers: sender.sign(Buffer.from(body), {
        secret,
        now,
        headers: headers as Headers,
      }),
    });
  return { handle, receiver, askSigned };
}

/**
 * Deliveries that an attacker would want signed: what is signed of each, and how it would be sent
 * with that signature.
 */
interface Wanted {
  sender: AnySender;
  message: string;
  deliver(signature: Buffer): Delivered;
}

/** The senders that sign by an HMAC. */
const SIGNING = SIGNERS.filter(({ name }) => !/v1a|secret token/.test(name));

function wantedOf(text: string): Wanted[] {
  const signing = { body: Buffer.from(text), now: NOW, id: "msg_1" };
  return SIGNING.map((signer) => ({
    sender: signer.sender,
    message: signer.messageOf(signing).toString(),
    deliver(signature) {
      const [sample] = samplesFor(signer, NOW);
      const { headers, url } = signer.carrying(signature, signing);
      const all = { ...sample?.headers, ...headers };
      return { headers: all, body: signing.body, url, secrets: [SECRET], now: NOW };
    },
  }));
}

/** A whole event, and JSON that holds none of the characters that a guard would look for. */
const FORGED = readFileSync(new URL("forged-event.json", import.meta.url), "utf8");
const WANTED = [FORGED, "{}", "[]", "0", "123", "null", "true", '"a"', ""].flatMap(wantedOf);

const KEYS = [SECRET, Buffer.from(SECRET.slice("whsec_".length), "base64")];
const hmacs = (message: string): Buffer[] =>
  KEYS.flatMap((key) =>
    ["sha256", "sha1", "sha512"].map((hash) => createHmac(hash, key).update(message).digest()),
  );
const isIn = (text: string, signature: Buffer) =>
  text.includes(signature.toString("hex")) || text.includes(signature.toString("base64"));

/**
 * The ways to write a message as a token in JSON; a decoder that decodes twice would be fooled by
 * the last ones.
 */
function tokensOf(message: string): string[] {
  const escaped = Array.from(
    message,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`,
  ).join("");
  const json = JSON.stringify(message);
  return [
    json,
    `"${escaped}"`,
    `[${json}]`,
    `{"toString":${json}}`,
    `"a","plainToken":${json},"challenge":${json}`,
    JSON.stringify(` ${message}`),
    JSON.stringify(`${message}\n`),
    JSON.stringify(`a\n${message}`),
    JSON.stringify(encodeURIComponent(message)),
    JSON.stringify(Buffer.from(message).toString("base64")),
    JSON.stringify(escaped),
  ];
}

test("each delivery that is wanted would be accepted if it were signed", () => {
  for (const [index, { sender, message, deliver }] of wantedOf(FORGED).entries()) {
    const accepted = hmacs(message).filter(
      (signature) => verdictOf(sender, deliver(signature)) === 0,
    );
    // Twilio signs with either of two hashes, and the key of two forms was made for one.
    const count = sender.name === "twilio" ? 2 : 1;
    expect(accepted.length, SIGNING[index]?.name).toBe(count);
  }
});

test("a handshake is there for four senders, and each of three answers an authentic POST alone", async () => {
  const names = SENDER_NAMES.filter((name) => {
    const { get, post } = senderOf(name).handshake ?? {};
    return get !== undefined || post !== undefined;
  });
  expect(names.toSorted()).toEqual(["meta", "slack", "twitch", "zoom"]);
  for (const [name, asking] of ASKING) {
    const { handle, receiver, askSigned } = await askedOf(name);
    const asked = asking('"a-harmless-token"');
    const answer = await askSigned(asked);
    expect(answer).toMatchObject({ status: 200, headers: { "X-Content-Type-Options": "nosniff" } });
    expect(answer.headers["Content-Type"]).toMatch(/^(text\/plain|application\/json)/);
    expect(answer.body).toContain("a-harmless-token");
    for (const refused of [
      await handle(asked),
      await askSigned(asked, SECRET, NOW - 36_000_000),
      await askSigned(asked, `${SECRET.slice(0, -4)}AAAA`),
    ])
      expect(refused).toMatchObject({ status: 401, body: expect.not.stringContaining("harmless") });
    expect(await receiver.inbox.list()).toEqual([]);
  }
});

test.each(ASKING)(
  "%s: no answer holds a signature from which a delivery could be made",
  async (name, asking) => {
    const { askSigned } = await askedOf(name);
    for (const { message, deliver, sender: target } of WANTED) {
      for (const token of tokensOf(message)) {
        const { body } = await askSigned(asking(token));
        for (const signature of hmacs(message).filter((each) => isIn(body, each))) {
          const forged = deliver(signature);
          const isTaken = verdictOf(target, forged) === 0;
          // Of an empty or bare value a sender may sign what this one answers; but it is then no
          // event.
          const reading = isTaken ? readingOf(target, forged).kind : "refused";
          const what = `${token} makes a delivery of ${target.name}: ${message}`;
          expect(reading, what).not.toBe("event");
          expect(isTaken && target.name === name, what).toBe(false);
        }
      }
    }
  },
);

test.each(ASKING)(
  "%s: a token that is no text gets no answer of its own, and a body that is no JSON is no handshake",
  async (name, asking) => {
    const { askSigned, receiver } = await askedOf(name);
    const tokens = ["null", "1", "{}", "[]", "true", '""'].map(asking);
    const bodies = ["", "url_verification", "[", "null", '"endpoint.url_validation"'];
    for (const asked of [...tokens, ...bodies.map((body) => ({ ...asking('"a"'), body }))]) {
      const answer = await askSigned(asked);
      expect(answer.status, asked.body).toBeOneOf([200, 403]);
      expect(answer.body).not.toMatch(/undefined|object Object/);
    }
    const entries = await receiver.inbox.list();
    expect(entries.length).toBeGreaterThan(0);
    // What Twitch asks with a token that is no text, its receiver takes for a revocation.
    expect(entries.map(({ state, type }) => (type === "revocation" ? type : state))).toSatisfy(
      (all: string[]) => all.every((each) => each === "quarantined" || each === "revocation"),
    );
  },
);

test("Meta: a GET is answered with the challenge for the right token alone, as plain text", async () => {
  const { handle, receiver } = await startFor(senderOf("meta"), SECRET, { now: NOW });
  const get = (query: Record<string, string>) => {
    const url = `/webhooks/meta?${new URLSearchParams(query).toString()}`;
    return handle({ method: "GET", url, headers: {}, body: "" });
  };
  const right = {
    "hub.mode": "subscribe",
    "hub.verify_token": VERIFY_TOKEN,
    "hub.challenge": "1158201444",
  };
  expect(await get(right)).toMatchObject({
    status: 200,
    body: "1158201444",
    headers: {
      "Content-Type": expect.stringMatching(/^text\/plain/),
      "X-Content-Type-Options": "nosniff",
    },
  });
  for (const wrong of [
    { ...right, "hub.verify_token": "" },
    { ...right, "hub.verify_token": `${VERIFY_TOKEN} ` },
    { ...right, "hub.verify_token": VERIFY_TOKEN.toUpperCase() },
    { ...right, "hub.mode": "unsubscribe" },
    { "hub.mode": "subscribe", "hub.challenge": "1158201444" },
    {},
  ] as Record<string, string>[])
    expect(await get(wrong)).toMatchObject({
      status: 403,
      body: expect.not.stringContaining("1158201444"),
    });
  for (const { message } of WANTED) {
    const { body } = await get({ ...right, "hub.challenge": message });
    for (const signature of hmacs(message)) expect(isIn(body, signature)).toBe(false);
  }
  expect(await receiver.inbox.list()).toEqual([]);
});
