import { createHash, createHmac } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { createReceiver, type Receiver } from "../../../../src/kit/index.js";
import type { AnySender } from "../../../../src/kit/senders/engine/sender.js";
import { memoryStore } from "../../../../src/kit/stores/memory.js";
import { createManualClock } from "../../../../src/kit/testing/index.js";
import {
  deliveredOf,
  readingOf,
  SENDERS,
  VECTORS,
  verdictOf,
  VERIFY_TOKEN,
  type Delivered,
} from "./published-vectors.js";

// A sender asks a receiver to answer a token. Zoom even has it signed, with the secret of the
// deliveries. Whoever can choose the token must not get a signature of a delivery by it.

const NOW = 1_700_000_000_000;
const SECONDS = String(NOW / 1000);
/** One that each sender takes. */
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/** How each sender asks: the body that carries a token, as a value of JSON. */
const ASKING: Readonly<
  Record<string, (token: string) => { body: string; headers: Record<string, string> }>
> = {
  slack: (token) => ({
    body: `{"type":"url_verification","token":"t","challenge":${token}}`,
    headers: { "content-type": "application/json" },
  }),
  zoom: (token) => ({
    body: `{"event":"endpoint.url_validation","event_ts":${NOW},"payload":{"plainToken":${token}}}`,
    headers: { "content-type": "application/json" },
  }),
  twitch: (token) => ({
    body: `{"challenge":${token},"subscription":{"id":"s","type":"channel.follow","status":"webhook_callback_verification_pending"}}`,
    headers: {
      "content-type": "application/json",
      "twitch-eventsub-message-id": "m",
      "twitch-eventsub-message-type": "webhook_callback_verification",
      "twitch-eventsub-subscription-type": "channel.follow",
    },
  }),
};

const senderOf = (name: string): AnySender => (SENDERS[name] as () => AnySender)();

async function receiverOf(sender: AnySender): Promise<Receiver> {
  const clock = createManualClock(NOW);
  const options = {
    sender,
    secrets: SECRET,
    store: memoryStore(),
    onEvent: () => {},
    clock,
    logger: false,
  } as const;
  const receiver = createReceiver(options);
  await receiver.start();
  onTestFinished(() => receiver.close());
  return receiver;
}

/**
 * Deliveries that an attacker would want signed: what is signed of each, and how it would be sent
 * with that signature.
 */
interface Wanted {
  sender: AnySender;
  message: string;
  deliver(signature: { hex: string; base64: string }): Delivered;
}

/** An event to whichever sender. */
const FORGED = JSON.stringify({
  id: "evt_forged",
  event_id: "evt_forged",
  type: "invoice.paid",
  event_type: "invoice.paid",
  event: "meeting.started",
  object: "page",
  action: "opened",
  webhookTimestamp: NOW,
  meta: { event_name: "order_created" },
  subscription: { type: "channel.follow" },
  payload: {},
  entry: [],
});

/**
 * Of each sender's scheme, by its document, so that what the receiver does is not asked of the
 * receiver.
 */
function wantedOf(body: string): Wanted[] {
  const wanted = (
    name: string,
    message: string,
    headers: (signature: { hex: string; base64: string }) => Record<string, string>,
    url?: string,
  ): Wanted => ({
    sender: senderOf(name),
    message,
    deliver: (signature) => ({
      headers: { "content-type": "application/json", ...headers(signature) },
      body: Buffer.from(body),
      url,
      secrets: [SECRET],
      now: NOW,
    }),
  });
  const standard = (prefix: string) => (signature: { base64: string }) => ({
    [`${prefix}-id`]: "msg_1",
    [`${prefix}-timestamp`]: SECONDS,
    [`${prefix}-signature`]: `v1,${signature.base64}`,
  });
  const iso = new Date(NOW).toISOString();
  const query = `?bodySHA256=${createHash("sha256").update(body).digest("hex")}`;
  return [
    wanted("standard-webhooks", `msg_1.${SECONDS}.${body}`, standard("webhook")),
    wanted("svix", `msg_1.${SECONDS}.${body}`, standard("svix")),
    wanted("stripe", `${SECONDS}.${body}`, ({ hex }) => ({
      "stripe-signature": `t=${SECONDS},v1=${hex}`,
    })),
    wanted("github", body, ({ hex }) => ({
      "x-hub-signature-256": `sha256=${hex}`,
      "x-github-event": "push",
      "x-github-delivery": "forged",
    })),
    wanted("shopify", body, ({ base64 }) => ({
      "x-shopify-hmac-sha256": base64,
      "x-shopify-topic": "orders/create",
      "x-shopify-webhook-id": "forged",
      "x-shopify-event-id": "forged",
      "x-shopify-shop-domain": "shop.example",
    })),
    wanted("slack", `v0:${SECONDS}:${body}`, ({ hex }) => ({
      "x-slack-signature": `v0=${hex}`,
      "x-slack-request-timestamp": SECONDS,
    })),
    wanted("paddle", `${SECONDS}:${body}`, ({ hex }) => ({
      "paddle-signature": `ts=${SECONDS};h1=${hex}`,
    })),
    wanted("lemon-squeezy", body, ({ hex }) => ({
      "x-signature": hex,
      "x-event-name": "order_created",
    })),
    wanted("linear", body, ({ hex }) => ({
      "linear-signature": hex,
      "linear-event": "Issue",
      "linear-delivery": "forged",
    })),
    wanted(
      "twilio",
      `https://mycompany.com/myapp.php${query}`,
      ({ base64 }) => ({ "x-twilio-signature": base64 }),
      `/myapp.php${query}`,
    ),
    wanted("zoom", `v0:${SECONDS}:${body}`, ({ hex }) => ({
      "x-zm-signature": `v0=${hex}`,
      "x-zm-request-timestamp": SECONDS,
    })),
    wanted("meta", body, ({ hex }) => ({ "x-hub-signature-256": `sha256=${hex}` })),
    wanted("twitch", `m${iso}${body}`, ({ hex }) => ({
      "twitch-eventsub-message-signature": `sha256=${hex}`,
      "twitch-eventsub-message-id": "m",
      "twitch-eventsub-message-timestamp": iso,
      "twitch-eventsub-message-type": "notification",
      "twitch-eventsub-subscription-type": "channel.follow",
    })),
  ];
}

/** A whole event, and JSON that holds none of the characters that a guard would look for. */
const WANTED = [FORGED, "{}", "[]", "0", "123", "null", "true", '"a"', ""].flatMap(wantedOf);

const keysOf = (secret: string) => [secret, Buffer.from(secret.slice("whsec_".length), "base64")];
const hmacs = (message: string): { hex: string; base64: string }[] =>
  keysOf(SECRET).flatMap((key) =>
    ["sha256", "sha1", "sha512"].map((hash) => {
      const digest = createHmac(hash, key).update(message).digest();
      return { hex: digest.toString("hex"), base64: digest.toString("base64") };
    }),
  );

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
  for (const { sender, message, deliver } of wantedOf(FORGED)) {
    const accepted = hmacs(message).filter(
      (signature) => verdictOf(sender, deliver(signature)) === 0,
    );
    // Twilio signs with either of two hashes.
    expect(accepted.length, sender.name).toBe(sender.name === "twilio" ? 2 : 1);
  }
});

test("a handshake is there for four senders, and each of three answers an authentic POST alone", async () => {
  const names = Object.keys(SENDERS).filter((name) => {
    const { get, post } = senderOf(name).handshake ?? {};
    return get !== undefined || post !== undefined;
  });
  expect(names.sort()).toEqual(["meta", "slack", "twitch", "zoom"]);
  for (const [name, asking] of Object.entries(ASKING)) {
    const sender = senderOf(name);
    const receiver = await receiverOf(sender);
    const { body, headers } = asking('"a-harmless-token"');
    const handle = (sent: Record<string, string>) =>
      receiver.handle({ method: "POST", headers: sent, body: Buffer.from(body) });
    const signed = sender.sign(Buffer.from(body), { secret: SECRET, now: NOW, headers });
    const answer = await handle(signed);
    expect(answer).toMatchObject({ status: 200, headers: { "X-Content-Type-Options": "nosniff" } });
    expect(answer?.headers["Content-Type"]).toMatch(/^(text\/plain|application\/json)/);
    expect(answer?.body).toContain("a-harmless-token");
    expect((await handle(headers))?.status).toBe(401);
    const late = sender.sign(Buffer.from(body), { secret: SECRET, now: NOW - 36_000_000, headers });
    expect(await handle(late)).toMatchObject({
      status: 401,
      body: expect.not.stringContaining("harmless"),
    });
    const other = sender.sign(Buffer.from(body), {
      secret: `${SECRET.slice(0, -4)}AAAA`,
      now: NOW,
      headers,
    });
    expect((await handle(other))?.status).toBe(401);
    expect(await receiver.inbox.list()).toEqual([]);
  }
});

test.each(Object.entries(ASKING))(
  "%s: no answer holds a signature from which a delivery could be made",
  async (name, asking) => {
    const sender = senderOf(name);
    const receiver = await receiverOf(sender);
    for (const { message, deliver, sender: target } of WANTED) {
      for (const token of tokensOf(message)) {
        const { body, headers } = asking(token);
        const signed = sender.sign(Buffer.from(body), { secret: SECRET, now: NOW, headers });
        const answer = await receiver.handle({
          method: "POST",
          headers: signed,
          body: Buffer.from(body),
        });
        const said = answer?.body ?? "";
        for (const signature of hmacs(message)) {
          if (!said.includes(signature.hex) && !said.includes(signature.base64)) continue;
          const forged = deliver(signature);
          // Of an empty or bare value a sender may sign what this one answers; but it is then no
          // event.
          const isTaken = verdictOf(target, forged) === 0;
          const reading = isTaken ? readingOf(target, forged).kind : "refused";
          expect(reading, `${token} makes a delivery of ${target.name}: ${message}`).not.toBe(
            "event",
          );
          expect(
            isTaken && target.name === name,
            `${token} makes a delivery of its own sender`,
          ).toBe(false);
        }
      }
    }
  },
);

test("Zoom: whatever is answered, no time makes a delivery of it", async () => {
  const sender = senderOf("zoom");
  const receiver = await receiverOf(sender);
  const ask = ASKING["zoom"] as (typeof ASKING)[string];
  for (const token of [
    "qgg8vlvZRS6UYooatFL8Aw",
    "v0",
    `v0${SECONDS}`,
    `v0-${SECONDS}-{}`,
    `v0.${SECONDS}.{}`,
    `v0：${SECONDS}：{}`,
  ]) {
    const { body, headers } = ask(JSON.stringify(token));
    const signed = sender.sign(Buffer.from(body), { secret: SECRET, now: NOW, headers });
    const answer = await receiver.handle({
      method: "POST",
      headers: signed,
      body: Buffer.from(body),
    });
    const hex = /[0-9a-f]{64}/.exec(answer?.body ?? "")?.[0];
    if (hex === undefined) continue;
    for (const [time, sent] of [
      [SECONDS, "{}"],
      [SECONDS, ""],
      ["", ""],
      [SECONDS, token],
      ["0", "{}"],
    ] as const) {
      const forged = {
        headers: { "x-zm-signature": `v0=${hex}`, "x-zm-request-timestamp": time },
        body: Buffer.from(sent),
      };
      expect(verdictOf(sender, { ...forged, secrets: [SECRET], now: NOW })).toMatch(/^signature_/);
    }
  }
});

test.each(["slack", "twitch"])(
  "%s: a token that is no text, or no token, gets no answer of its own",
  async (name) => {
    const sender = senderOf(name);
    const receiver = await receiverOf(sender);
    for (const token of ["null", "1", "{}", "[]", "true", '""']) {
      const { body, headers } = (ASKING[name] as (typeof ASKING)[string])(token);
      const signed = sender.sign(Buffer.from(body), { secret: SECRET, now: NOW, headers });
      const answer = await receiver.handle({
        method: "POST",
        headers: signed,
        body: Buffer.from(body),
      });
      expect(answer?.status, token).toBeOneOf([200, 403]);
      expect(answer?.body, token).not.toMatch(/undefined|object Object/);
    }
  },
);

test.each(Object.keys(ASKING))(
  "%s: an authentic body that is no JSON is kept, and is no handshake",
  async (name) => {
    const sender = senderOf(name);
    const receiver = await receiverOf(sender);
    const { headers } = (ASKING[name] as (typeof ASKING)[string])('"a"');
    for (const text of ["", "url_verification", "[", "null", '"endpoint.url_validation"']) {
      const body = Buffer.from(text);
      const signed = sender.sign(body, { secret: SECRET, now: NOW, headers });
      const answer = await receiver.handle({ method: "POST", headers: signed, body });
      // Twitch names a handshake in a header: without a challenge there is nothing to answer.
      expect(answer?.status, text).toBeOneOf(name === "twitch" ? [200, 403] : [200]);
    }
    expect((await receiver.inbox.list()).filter(({ state }) => state !== "quarantined")).toEqual(
      [],
    );
  },
);

test("Meta: a GET is answered with the challenge for the right token alone, as plain text", async () => {
  const receiver = await receiverOf(senderOf("meta"));
  const get = (query: Record<string, string>) => {
    const url = `/webhooks/meta?${new URLSearchParams(query).toString()}`;
    return receiver.handle({ method: "GET", url, headers: {}, body: new Uint8Array() });
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
    const answer = await get({ ...right, "hub.challenge": message });
    for (const { hex, base64 } of hmacs(message)) {
      expect(answer?.body).not.toContain(hex);
      expect(answer?.body).not.toContain(base64);
    }
  }
  expect(await receiver.inbox.list()).toEqual([]);
});

test("a published handshake is answered as its sender wants it, for each of its vectors", () => {
  const answers = VECTORS.filter(
    ({ vector }) => vector.expected !== null && "answer" in vector.expected,
  );
  expect(answers.map(({ file }) => file)).toEqual(["slack", "zoom", "twitch"]);
  for (const { sender, vector } of answers) expect(verdictOf(sender, deliveredOf(vector))).toBe(0);
});
