import { createPrivateKey, createPublicKey, generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import { defineSender } from "../../../../src/kit/senders/engine/define-sender.js";
import type { SignatureScheme } from "../../../../src/kit/senders/engine/scheme.js";
import { readingOf, verdictOf } from "./published-vectors.js";

const SECRET = "a secret of ours";
const BODY = Buffer.from('{"id":"evt_1","type":"invoice.paid"}');

const own = (signature: SignatureScheme) =>
  defineSender({ name: "own", signature, read: ({ json }) => ({ id: json.id, type: json.type }) });

/** Schemes with a secret, and a signature that openssl made. */
const KNOWN: readonly [
  string,
  SignatureScheme,
  { secret?: string; headers: Record<string, string>; now?: number },
][] = [
  [
    "SHA-512 in base64, the time in a header",
    {
      header: "X-Own-Signature",
      digest: "sha512",
      encoding: "base64",
      time: { header: "X-Own-Time" },
      message: ["time", ":", "body"],
    },
    {
      headers: {
        "x-own-time": "1700000000",
        "x-own-signature":
          "TCuKdB0NSQMeAV4R6f86gcSwZ2KUoTYVsvXLsLhoS+bHLn8GIhUFJq2498VQhEvRPVE7F6QpfXaLLSpya96bXg==",
      },
      now: 1_700_000_000_000,
    },
  ],
  [
    "a time in ISO 8601 and a key in hex",
    {
      header: "x-own",
      key: "hex",
      time: { header: "x-time", form: "iso" },
      message: ["time", ".", "body"],
    },
    {
      secret: "000102030405060708090a0b0c0d0e0f",
      headers: {
        "x-time": "2026-11-26T10:00:00.000Z",
        "x-own": "3e71d4989497ff3f327861effb989b5b4ab3a329fb2e8d306fced5dc9c876659",
      },
      now: Date.UTC(2026, 10, 26, 10),
    },
  ],
  [
    "milliseconds in a list with a comma and a blank",
    {
      header: "x-own",
      list: { between: ", ", assign: "=", signature: "v1", time: "t" },
      time: { list: true, form: "milliseconds" },
      message: ["time", ".", "body"],
    },
    {
      headers: {
        "x-own":
          "t=1700000000123, v1=8e2ac2204f1aff69ea05594fa755688d926199f512dd15e0ea53a917d43558f7",
      },
      now: 1_700_000_000_000,
    },
  ],
  [
    "SHA-1, a key in base64 after a prefix, no time",
    { header: "x-own", prefix: "sha1=", digest: "sha1", key: "base64", keyPrefix: "key_" },
    {
      secret: "key_AAECAwQFBgcICQoLDA0ODw==",
      headers: { "x-own": "sha1=b8bdcb08f2d93666954a045f898dd462e5e67318" },
    },
  ],
  [
    "several signatures in a list without a time",
    { header: "x-own", list: { between: ",", assign: "=", signature: "v1" } },
    {
      headers: {
        "x-own": `v1=${"0".repeat(64)},v1=4e81e520c211cb12a5d33f668ee088be8137f9b95b81aa022b622de625378463`,
      },
    },
  ],
];

test.each(KNOWN)(
  "%s: what openssl signed is accepted, and the same is signed",
  (_name, scheme, vector) => {
    const { headers, secret = SECRET, now = 1 } = vector;
    const sender = own(scheme);
    const delivered = { headers, body: BODY, secrets: [secret], now };
    expect(verdictOf(sender, delivered)).toBe(0);
    expect(readingOf(sender, delivered)).toMatchObject({
      kind: "event",
      id: "evt_1",
      type: "invoice.paid",
    });
    expect(verdictOf(sender, { ...delivered, body: Buffer.from(`${BODY.toString()} `) })).toBe(
      "signature_mismatch",
    );
    const isTimed = scheme.time !== undefined;
    for (const seconds of [-301, 301])
      expect(verdictOf(sender, { ...delivered, now: now + seconds * 1000 })).toBe(
        isTimed ? "timestamp_out_of_tolerance" : 0,
      );
    const signedAt = /t=(\d+)/.exec(headers["x-own"] ?? "")?.[1];
    const made = sender.sign(BODY, {
      secret,
      now: signedAt === undefined ? now : Number(signedAt),
    });
    // Of several signatures it makes one.
    expect(made[sender.signatureHeader]?.split(",").at(-1)).toBe(
      headers[sender.signatureHeader]?.split(",").at(-1),
    );
    expect(verdictOf(sender, { ...delivered, headers: made })).toBe(0);
  },
);

test.each([
  ["seconds", "1700000000", ["1700000000123", "2023-11-14T22:13:20Z", "1.7e9", " 1700000000", "٣"]],
  ["milliseconds", "1700000000000", ["1700000000", "-1", "0x18bcfe56800", ""]],
  [
    "iso",
    "2023-11-14T22:13:20Z",
    [
      "1700000000",
      "2023-11-14",
      "2023-11-14T22:13:20",
      "2023-14-44T22:13:20Z",
      "2023-11-14T22:13:20+99:99",
    ],
  ],
] as const)("a time in %s is taken as such, and no other text", (form, right, wrong) => {
  const sender = own({
    header: "x-own",
    time: { header: "x-time", form },
    message: ["time", "body"],
  });
  const { sign } = own({ header: "x-own", message: [right, "body"] });
  const now = 1_700_000_000_000;
  const at = (time: string, signed: Record<string, string>) =>
    verdictOf(sender, {
      headers: { ...signed, "x-time": time },
      body: BODY,
      secrets: [SECRET],
      now,
    });
  expect(at(right, sign(BODY, { secret: SECRET, now }))).toBe(0);
  // Also when the sender signed it.
  for (const time of wrong) {
    const signed = own({ header: "x-own", message: [time, "body"] }).sign(BODY, {
      secret: SECRET,
      now,
    });
    expect(at(time, signed), time).toBeOneOf(["signature_malformed", "timestamp_out_of_tolerance"]);
  }
});

test("an ISO time with nanoseconds and another zone is taken", () => {
  const time = "2023-11-14T23:13:20.123456789+01:00";
  const sender = own({
    header: "x-own",
    time: { header: "x-time", form: "iso" },
    message: ["time", "body"],
  });
  const signed = own({ header: "x-own", message: [time, "body"] }).sign(BODY, {
    secret: SECRET,
    now: 1,
  });
  const delivered = {
    headers: { ...signed, "x-time": time },
    body: BODY,
    secrets: [SECRET],
    now: 1_700_000_000_000,
  };
  expect(verdictOf(sender, delivered)).toBe(0);
  expect(verdictOf(sender, { ...delivered, now: delivered.now + 301_000 })).toBe(
    "timestamp_out_of_tolerance",
  );
});

const DISCORD: SignatureScheme = {
  header: "X-Signature-Ed25519",
  digest: "ed25519",
  key: "hex",
  time: { header: "X-Signature-Timestamp" },
  message: ["time", "body"],
};
// Accepted by verifyKey of discord-interactions 4.4.0. The key is the first one of RFC 8032, 7.1.
const DISCORD_KEY = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
const DISCORD_SEED = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
const DISCORD_DELIVERY = {
  headers: {
    "x-signature-timestamp": "1700000000",
    "x-signature-ed25519":
      "05f9822f3710119f5d3aed2d1ea2536309c5e34204e9e287805cbe4d87f00b1cc3cc0ad6e90b86de4b2b5d97e35e56877a8f77d9bc80197633144f5bcd57540b",
  },
  body: Buffer.from(
    '{"version":1,"application_id":"1234560123453231555","type":1,"event":{"type":"APPLICATION_AUTHORIZED","timestamp":"2024-10-18T14:42:53.064834"}}',
  ),
  secrets: [DISCORD_KEY],
  now: 1_700_000_000_000,
};

test("Discord: an Ed25519 signature is accepted with a key in hex, base64 and PEM, and is made with a private key", () => {
  expect(verdictOf(own(DISCORD), DISCORD_DELIVERY)).toBe(0);
  const der = Buffer.concat([
    Buffer.from("302e020100300506032b657004220420", "hex"),
    Buffer.from(DISCORD_SEED, "hex"),
  ]);
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const secret = key.export({ format: "pem", type: "pkcs8" }).toString();
  const pem = createPublicKey(key).export({ format: "pem", type: "spki" }).toString();
  const inBase64 = own({ ...DISCORD, key: "base64" });
  for (const text of [Buffer.from(DISCORD_KEY, "hex").toString("base64"), pem])
    expect(verdictOf(inBase64, { ...DISCORD_DELIVERY, secrets: [text] })).toBe(0);
  const { body, headers, now } = DISCORD_DELIVERY;
  expect(own(DISCORD).sign(body, { secret, now })).toMatchObject(headers);
});

test("Discord: what is not signed by the key is refused", () => {
  const sender = own(DISCORD);
  const { headers, body } = DISCORD_DELIVERY;
  const signature = headers["x-signature-ed25519"];
  const refused = (changes: Partial<typeof DISCORD_DELIVERY>) =>
    verdictOf(sender, { ...DISCORD_DELIVERY, ...changes });
  const signedWith = (text: string) =>
    refused({ headers: { ...headers, "x-signature-ed25519": text } });
  expect(refused({ body: Buffer.concat([body, Buffer.from(" ")]) })).toBe("signature_mismatch");
  expect(refused({ headers: { ...headers, "x-signature-timestamp": "1700000001" } })).toBe(
    "signature_mismatch",
  );
  expect(signedWith(signature.replace(/^0/, "1"))).toBe("signature_mismatch");
  expect(signedWith("0".repeat(128))).toBe("signature_mismatch");
  for (const text of [signature.toUpperCase(), signature.slice(2), `${signature}00`, ""])
    expect(signedWith(text)).toBe("signature_malformed");
  for (const key of ["", "00", "zz", DISCORD_KEY.slice(2), "-----BEGIN PUBLIC KEY-----"]) {
    expect(refused({ secrets: [key] })).toBe("signature_mismatch");
    expect(sender.secretProblem(key)).toContain("public key");
  }
});

test("a public key is no secret of an HMAC: a signature made with its text is refused", () => {
  const { headers, body, now } = DISCORD_DELIVERY;
  const forged = own({ header: "x", digest: "sha512", message: ["1700000000", "body"] });
  const text = forged.sign(body, { secret: DISCORD_KEY, now })["x"] ?? "";
  expect(text).toHaveLength(128);
  const delivered = { ...DISCORD_DELIVERY, headers: { ...headers, "x-signature-ed25519": text } };
  expect(verdictOf(own(DISCORD), delivered)).toBe("signature_mismatch");
});

// The vectors of packages/eventwebhook/src/eventwebhook.spec.js of sendgrid/sendgrid-nodejs, which
// SendGrid publishes.
const SENDGRID = own({
  header: "X-Twilio-Email-Event-Webhook-Signature",
  digest: "ecdsa",
  encoding: "base64",
  key: "base64",
  time: { header: "X-Twilio-Email-Event-Webhook-Timestamp" },
  message: ["time", "body"],
});
const sendGrid = (secret: string, signature: string, time: string, body: string) => ({
  headers: {
    "x-twilio-email-event-webhook-signature": signature,
    "x-twilio-email-event-webhook-timestamp": time,
  },
  body: Buffer.from(body),
  secrets: [secret],
  now: Number(time) * 1000,
});
const SENDGRID_KEY =
  "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE83T4O/n84iotIvIW4mdBgQ/7dAfSmpqIM8kF9mN1flpVKS3GRqe62gw+2fNNRaINXvVpiglSI8eNEc6wEA3F+g==";
const SENDGRID_ONE = sendGrid(
  SENDGRID_KEY,
  "MEUCIGHQVtGj+Y3LkG9fLcxf3qfI10QysgDWmMOVmxG0u6ZUAiEAyBiXDWzM+uOe5W0JuG+luQAbPIqHh89M15TluLtEZtM=",
  "1600112502",
  '[{"email":"hello@world.com","event":"dropped","reason":"Bounced Address","sg_event_id":"ZHJvcC0xMDk5NDkxOS1MUnpYbF9OSFN0T0doUTRrb2ZTbV9BLTA","sg_message_id":"LRzXl_NHStOGhQ4kofSm_A.filterdrecv-p3mdw1-756b745b58-kmzbl-18-5F5FC76C-9.0","smtp-id":"<LRzXl_NHStOGhQ4kofSm_A@ismtpd0039p1iad1.sendgrid.net>","timestamp":1600112492}]\r\n',
);
const SENDGRID_TWO = sendGrid(
  "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEQ4LIFtWztlsF7skFqOncjD1lun4H5w8XOhyOArHW9RcIx/FfEzx6cikC/yPfUvwaX/JScE7Fc9CJD2afQ9Ok3Q==",
  "MEYCIQC/I4o6vCgqRYrTljjoVWB/GRWNtxeePlLMHr3x9ETeRQIhAIpV+03nREPTTHWSW0wIOA0EoMPdcNgXa70yCaqDJlu5",
  "1619651159",
  '[{"email":"invalid@gmail.com","event":"processed","send_at":0,"sg_event_id":"cHJvY2Vzc2VkLTE5OTQyMTEyLXFOd0JMZ1BRUWpXNkRKdktRd1NBYnctMA","sg_message_id":"qNwBLgPQQjW6DJvKQwSAbw.filterdrecv-canary-547b64655b-cw6zx-1-6089EA4A-56.0","smtp-id":"<qNwBLgPQQjW6DJvKQwSAbw@ismtpd0178p1mdw1.sendgrid.net>","timestamp":1619651146},\r\n{"email":"invalid@gmail.com","event":"bounce","ip":"167.89.101.76","reason":"552 5.2.2 The email account that you tried to reach is over quota and inactive. Please direct the recipient to https://support.google.com/mail/?p=OverQuotaPerm c17si1130468pgv.34 - gsmtp","sg_event_id":"Ym91bmNlLTAtMTk5NDIxMTItcU53QkxnUFFRalc2REp2S1F3U0Fidy0w","sg_message_id":"qNwBLgPQQjW6DJvKQwSAbw.filterdrecv-canary-547b64655b-cw6zx-1-6089EA4A-56.0","smtp-id":"<qNwBLgPQQjW6DJvKQwSAbw@ismtpd0178p1mdw1.sendgrid.net>","status":"5.2.2","timestamp":1619651147,"tls":1,"type":"blocked"}]\r\n',
);

test("SendGrid: its published ECDSA vectors are accepted, and changed ones are refused", () => {
  expect(verdictOf(SENDGRID, SENDGRID_ONE)).toBe(0);
  expect(verdictOf(SENDGRID, SENDGRID_TWO)).toBe(0);
  for (const delivered of [SENDGRID_ONE, SENDGRID_TWO]) {
    const { body, headers } = delivered;
    expect(verdictOf(SENDGRID, { ...delivered, body: body.subarray(0, -2) })).toBe(
      "signature_mismatch",
    );
    const other = delivered === SENDGRID_ONE ? SENDGRID_TWO : SENDGRID_ONE;
    expect(verdictOf(SENDGRID, { ...delivered, secrets: other.secrets })).toBe(
      "signature_mismatch",
    );
    expect(
      verdictOf(SENDGRID, { ...delivered, headers: { ...other.headers, ...timeOf(headers) } }),
    ).toBe("signature_mismatch");
    expect(verdictOf(SENDGRID, { ...delivered, now: delivered.now - 301_000 })).toBe(
      "timestamp_out_of_tolerance",
    );
  }
});

const timeOf = (headers: Record<string, string>) => ({
  "x-twilio-email-event-webhook-timestamp": headers["x-twilio-email-event-webhook-timestamp"] ?? "",
});

test("an ECDSA signature that is made here is accepted here, and in hex too", () => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const [secret, known] = [
    privateKey.export({ format: "pem", type: "pkcs8" }).toString(),
    publicKey.export({ format: "pem", type: "spki" }).toString(),
  ];
  for (const encoding of ["base64", "hex"] as const) {
    const sender = own({ header: "x-own", digest: "ecdsa", encoding });
    const delivered = {
      headers: sender.sign(BODY, { secret, now: 1 }),
      body: BODY,
      secrets: [known],
      now: 1,
    };
    expect(verdictOf(sender, delivered)).toBe(0);
    expect(verdictOf(sender, { ...delivered, body: Buffer.from("{}") })).toBe("signature_mismatch");
  }
});

// What a mistake in a definition would let in, or would make useless without a word.
test.each<[string, object, string]>([
  ["a message without the body", { message: ["time", ":", "bdoy"] }, "signature.message"],
  ["a time that is not signed", { time: { header: "x-time" } }, "signature.message"],
  ["an id that is not signed", { id: "x-id" }, "signature.id"],
  ["a part without its source", { message: ["time", "body"] }, "signature.time"],
  ["a time in two places", { time: { header: "x-time", property: "time" } }, "signature.time"],
  [
    "a time of a list that names none",
    { time: { list: true }, message: ["time", "body"] },
    "signature.list.time",
  ],
  ["the address without publicUrl", { message: ["url", "body"] }, "signature.message"],
  ["a misspelt option", { encodng: "base64" }, "signature.encodng"],
  ["a hash that there is not", { digest: "md5" }, "signature.digest"],
  ["no name of a header", { header: "x own" }, "signature.header"],
])("a definition with %s is refused", (_name, change, option) => {
  expect(() => own({ header: "x-own", ...change })).toThrow(`"${option}"`);
});
