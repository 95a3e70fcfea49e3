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
import { startFor } from "./sender-rig.js";

// A sender asks a receiver to answer a token. Zoom even has it signed, with the secret of the
// deliveries. Whoever can choose the token must not get a signature of a delivery by it.

const NOW = 1_700_000_000_000;
/** One that each sender takes. */
const SECRET = signerOf("stripe").secret;

/** How each sender asks: the body that carries a token, as a value of JSON. */
const ASKING = Object.entries(
  JSON.parse(readFileSync(new URL("handshakes.json", import.meta.url), "utf8")) as Record<
    string,
    { body: string; headers: Record<string, string> }
  >,
);

/** A receiver of such a sender, how it is asked, and what it answers to a body that was signed. */
async function askedOf([name, { body, headers }]: (typeof ASKING)[number]) {
  const sender = senderOf(name);
  const { handle, receiver } = await startFor(sender, SECRET, { now: NOW });
  const asking = (token: string) => ({ body: body.replace("{token}", () => token), headers });
  const askSigned = (text: string, secret = SECRET, now = NOW) =>
    handle({ body: text, headers: sender.sign(Buffer.from(text), { secret, now, headers }) });
  return { handle, receiver, asking, askSigned };
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
  expect(names.toSorted()).toEqual([...ASKING.map(([name]) => name), "meta"].toSorted());
  for (const each of ASKING) {
    const { handle, receiver, asking, askSigned } = await askedOf(each);
    const asked = asking('"a-harmless-token"');
    const answer = await askSigned(asked.body);
    expect(answer).toMatchObject({ status: 200, headers: { "X-Content-Type-Options": "nosniff" } });
    expect(answer.headers["Content-Type"]).toMatch(/^(text\/plain|application\/json)/);
    expect(answer.body).toContain("a-harmless-token");
    for (const refused of [
      await handle(asked),
      await askSigned(asked.body, SECRET, NOW - 36_000_000),
      await askSigned(asked.body, `${SECRET.slice(0, -4)}AAAA`),
    ])
      expect(refused).toMatchObject({ status: 401, body: expect.not.stringContaining("harmless") });
    expect(await receiver.inbox.list()).toEqual([]);
  }
});

test.each(ASKING)(
  "%s: no answer holds a signature from which a delivery could be made",
  async (...each) => {
    const { asking, askSigned } = await askedOf(each);
    for (const { message, deliver, sender: target } of WANTED) {
      for (const token of tokensOf(message)) {
        const { body } = await askSigned(asking(token).body);
        for (const signature of hmacs(message).filter((made) => isIn(body, made))) {
          const forged = deliver(signature);
          if (verdictOf(target, forged) !== 0) continue;
          // Of an empty or bare value a sender may sign what another answers; but it is then no event.
          const what = `${token} makes a delivery of ${target.name}: ${message}`;
          expect(readingOf(target, forged).kind, what).not.toBe("event");
          expect(target.name, what).not.toBe(each[0]);
        }
      }
    }
  },
);

test.each(ASKING)(
  "%s: a token that is no text gets no answer of its own, and a body that is no JSON is no handshake",
  async (...each) => {
    const { asking, askSigned, receiver } = await askedOf(each);
    const tokens = ["null", "1", "{}", "[]", "true", '""'].map((token) => asking(token).body);
    const bodies = ["", "url_verification", "[", "null", '"endpoint.url_validation"'];
    for (const body of [...tokens, ...bodies]) {
      const answer = await askSigned(body);
      expect(answer.status, body).toBeOneOf([200, 403]);
      expect(answer.body).not.toMatch(/undefined|object Object/);
    }
    const entries = await receiver.inbox.list();
    expect(entries.length).toBeGreaterThan(0);
    // What Twitch asks with a token that is no text, its receiver takes for a revocation.
    for (const { state, type } of entries)
      expect([state, type]).toSatisfy((all: string[]) =>
        /quarantined|,revocation/.test(all.join()),
      );
  },
);

test("Meta: a GET is answered with the challenge for the right token alone, as plain text", async () => {
  const { handle, receiver } = await startFor(senderOf("meta"), SECRET, { now: NOW });
  const get = (changes: object, challenge = "1158201444") => {
    const right = { mode: "subscribe", verify_token: VERIFY_TOKEN, challenge };
    const query = Object.entries({ ...right, ...changes }).map(
      ([name, value]) => `hub.${name}=${value}`,
    );
    return handle({
      method: "GET",
      url: `/meta?${encodeURI(query.join("&"))}`,
      headers: {},
      body: "",
    });
  };
  expect(await get({})).toMatchObject({
    status: 200,
    body: "1158201444",
    headers: {
      "Content-Type": expect.stringMatching(/^text\/plain/),
      "X-Content-Type-Options": "nosniff",
    },
  });
  for (const wrong of [
    { verify_token: "" },
    { verify_token: `${VERIFY_TOKEN} ` },
    { verify_token: VERIFY_TOKEN.toUpperCase() },
    { mode: "unsubscribe" },
  ])
    expect(await get(wrong)).toMatchObject({
      status: 403,
      body: expect.not.stringContaining("1158201444"),
    });
  for (const { message } of WANTED) {
    const { body } = await get({}, message);
    for (const signature of hmacs(message)) expect(isIn(body, signature)).toBe(false);
  }
  expect(await receiver.inbox.list()).toEqual([]);
});
