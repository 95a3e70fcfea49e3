import { createHash, createHmac, generateKeyPairSync, sign } from "node:crypto";
import type { AnySender } from "../../../../src/kit/senders/engine/sender.js";
import {
  github,
  gitlab,
  lemonSqueezy,
  linear,
  meta,
  paddle,
  shopify,
  slack,
  standardWebhooks,
  stripe,
  svix,
  twilio,
  twitch,
  zoom,
} from "../../../../src/kit/senders/index.js";

/** What a sender puts around a body. */
export interface Signed {
  headers: Record<string, string>;
  url?: string;
}

/** What is signed with a body: the id goes into a header where the sender has one. */
export interface Signing {
  body: Buffer;
  /** In milliseconds since 1970. */
  now: number;
  id: string;
}

/** A sender's own side, written from its documents: nothing here calls the signing of src. */
export interface IndependentSigner {
  name: string;
  sender: AnySender;
  /** What the receiver is given. */
  secret: string;
  sign(signing: Signing): Signed;
}

const hmac = (
  hash: string,
  key: string | Buffer,
  form: "hex" | "base64",
  ...parts: (string | Buffer)[]
) =>
  createHmac(hash, key)
    .update(Buffer.concat(parts.map((part) => Buffer.from(part))))
    .digest(form);
const seconds = (now: number) => String(Math.floor(now / 1000));

const TEXT = "a-secret-of-the-independent-signers";
const KEY = Buffer.from("0123456789abcdef0123456789abcdef");
const WHSEC = `whsec_${KEY.toString("base64")}`;
const PAIR = generateKeyPairSync("ed25519");
/** The raw 32 bytes stand at the end of the DER. */
const PUBLIC = PAIR.publicKey
  .export({ format: "der", type: "spki" })
  .subarray(-32)
  .toString("base64");

/** https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
const standard =
  (prefix: string, key: string | Buffer) =>
  ({ body, now, id }: Signing): Signed => ({
    headers: {
      [`${prefix}-id`]: id,
      [`${prefix}-timestamp`]: seconds(now),
      [`${prefix}-signature`]: `v1,${hmac("sha256", key, "base64", `${id}.${seconds(now)}.`, body)}`,
    },
  });

/** Where Twilio posts to. */
export const TWILIO_URL = "https://hooks.example/twilio?tenant=1";

/**
 * https://www.twilio.com/docs/usage/security: the address, then each name with its value, by name.
 */
export function twilioText(url: string, body: Buffer): string {
  const fields = [
    ...new Map(
      [...new URLSearchParams(body.toString())].map((pair) => [pair.join("="), pair]),
    ).values(),
  ];
  return (
    url +
    fields
      .sort(([a, b], [c, d]) => (a === c ? (b < d ? -1 : 1) : a < c ? -1 : 1))
      .flat()
      .join("")
  );
}

const twilioSigner =
  (hash: string) =>
  ({ body }: Signing): Signed => {
    const isJson = body.toString("latin1").startsWith("{");
    const query = isJson ? `&bodySHA256=${createHash("sha256").update(body).digest("hex")}` : "";
    const text = isJson ? TWILIO_URL + query : twilioText(TWILIO_URL, body);
    return {
      url: `/twilio?tenant=1${query}`,
      headers: {
        "content-type": isJson ? "application/json" : "application/x-www-form-urlencoded",
        "x-twilio-signature": hmac(hash, TEXT, "base64", text),
        ...(hash === "sha256" && {
          "x-twilio-webhooks-signature-settings": "key=webhooks_sharedkey_1,algorithm=HMAC_SHA256",
        }),
      },
    };
  };

const HUB = ({ body }: Signing): Signed => ({
  headers: { "x-hub-signature-256": `sha256=${hmac("sha256", TEXT, "hex", body)}` },
});

/** Each sender, in each form in which it signs. */
export const SIGNERS: readonly IndependentSigner[] = [
  {
    name: "standard-webhooks",
    sender: standardWebhooks(),
    secret: WHSEC,
    sign: standard("webhook", KEY),
  },
  {
    name: "standard-webhooks, text key",
    sender: standardWebhooks({ key: "text" }),
    secret: WHSEC,
    sign: standard("webhook", WHSEC),
  },
  {
    name: "standard-webhooks, v1a",
    sender: standardWebhooks({ key: "public" }),
    secret: `whpk_${PUBLIC}`,
    sign: ({ body, now, id }) => ({
      headers: {
        "webhook-id": id,
        "webhook-timestamp": seconds(now),
        "webhook-signature": `v1a,${sign(null, Buffer.concat([Buffer.from(`${id}.${seconds(now)}.`), body]), PAIR.privateKey).toString("base64")}`,
      },
    }),
  },
  { name: "svix", sender: svix(), secret: WHSEC, sign: standard("svix", KEY) },
  // https://docs.stripe.com/webhooks#verify-manually
  {
    name: "stripe",
    sender: stripe(),
    secret: WHSEC,
    sign: ({ body, now }) => ({
      headers: {
        "stripe-signature": `t=${seconds(now)},v1=${hmac("sha256", WHSEC, "hex", `${seconds(now)}.`, body)},v0=${"0".repeat(64)}`,
      },
    }),
  },
  // https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
  {
    name: "github",
    sender: github(),
    secret: TEXT,
    sign: (signing) => ({
      headers: {
        "x-github-delivery": signing.id,
        "x-hub-signature": `sha1=${hmac("sha1", TEXT, "hex", signing.body)}`,
        ...HUB(signing).headers,
      },
    }),
  },
  // https://docs.gitlab.com/user/project/integrations/webhooks/
  {
    name: "gitlab, signing token",
    sender: gitlab(),
    secret: WHSEC,
    sign: (signing) => {
      const { headers } = standard("webhook", KEY)(signing);
      return { headers: { ...headers, "idempotency-key": signing.id } };
    },
  },
  {
    name: "gitlab, secret token",
    sender: gitlab({ token: true }),
    secret: TEXT,
    sign: ({ id, now }) => ({
      headers: {
        "x-gitlab-token": TEXT,
        "idempotency-key": id,
        "webhook-id": id,
        "webhook-timestamp": seconds(now),
      },
    }),
  },
  // https://shopify.dev/docs/apps/build/webhooks/subscribe/https,
  // https://shopify.dev/docs/apps/build/events
  {
    name: "shopify",
    sender: shopify(),
    secret: TEXT,
    sign: ({ body, id }) => ({
      headers: {
        "x-shopify-hmac-sha256": hmac("sha256", TEXT, "base64", body),
        "x-shopify-webhook-id": id,
      },
    }),
  },
  {
    name: "shopify, Events",
    sender: shopify(),
    secret: TEXT,
    sign: ({ body, id }) => ({
      headers: {
        "shopify-hmac-sha256": hmac("sha256", TEXT, "base64", body),
        "shopify-webhook-id": id,
      },
    }),
  },
  // https://docs.slack.dev/authentication/verifying-requests-from-slack
  {
    name: "slack",
    sender: slack(),
    secret: TEXT,
    sign: ({ body, now }) => ({
      headers: {
        "x-slack-request-timestamp": seconds(now),
        "x-slack-signature": `v0=${hmac("sha256", TEXT, "hex", `v0:${seconds(now)}:`, body)}`,
      },
    }),
  },
  // https://developer.paddle.com/webhooks/signature-verification
  {
    name: "paddle",
    sender: paddle(),
    secret: `pdl_ntfset_01_${TEXT}`,
    sign: ({ body, now }) => ({
      headers: {
        "paddle-signature": `ts=${seconds(now)};h1=${hmac("sha256", `pdl_ntfset_01_${TEXT}`, "hex", `${seconds(now)}:`, body)}`,
      },
    }),
  },
  // https://docs.lemonsqueezy.com/help/webhooks/signing-requests
  {
    name: "lemon-squeezy",
    sender: lemonSqueezy(),
    secret: TEXT,
    sign: ({ body }) => ({ headers: { "x-signature": hmac("sha256", TEXT, "hex", body) } }),
  },
  // https://linear.app/developers/webhooks
  {
    name: "linear",
    sender: linear(),
    secret: TEXT,
    sign: ({ body, id, now }) => ({
      headers: {
        "linear-signature": hmac("sha256", TEXT, "hex", body),
        "linear-delivery": id,
        "linear-timestamp": String(now),
      },
    }),
  },
  {
    name: "twilio, SHA-1",
    sender: twilio({ publicUrl: TWILIO_URL }),
    secret: TEXT,
    sign: twilioSigner("sha1"),
  },
  {
    name: "twilio, SHA-256",
    sender: twilio({ publicUrl: TWILIO_URL }),
    secret: TEXT,
    sign: twilioSigner("sha256"),
  },
  // https://developers.zoom.us/docs/api/webhooks
  {
    name: "zoom",
    sender: zoom(),
    secret: TEXT,
    sign: ({ body, now }) => ({
      headers: {
        "x-zm-request-timestamp": seconds(now),
        "x-zm-signature": `v0=${hmac("sha256", TEXT, "hex", `v0:${seconds(now)}:`, body)}`,
      },
    }),
  },
  // https://developers.facebook.com/docs/graph-api/webhooks/getting-started
  { name: "meta", sender: meta({ verifyToken: TEXT }), secret: TEXT, sign: HUB },
  // https://dev.twitch.tv/docs/eventsub/handling-webhook-events
  {
    name: "twitch",
    sender: twitch(),
    secret: TEXT,
    sign: ({ body, now, id }) => {
      const time = new Date(now).toISOString().replace("Z", "456789Z");
      return {
        headers: {
          "twitch-eventsub-message-id": id,
          "twitch-eventsub-message-timestamp": time,
          "twitch-eventsub-message-signature": `sha256=${hmac("sha256", TEXT, "hex", id, time, body)}`,
        },
      };
    },
  },
];

/** The signer of this name. */
export function signerOf(name: string): IndependentSigner {
  const found = SIGNERS.find((signer) => signer.name === name);
  if (found === undefined) throw new Error(`no signer ${name}`);
  return found;
}
