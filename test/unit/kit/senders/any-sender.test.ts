import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import { expect, test } from "vitest";
import { createReceiver, type SenderReceiverOptions } from "../../../../src/kit/index.js";
import {
  defineSender,
  type SenderDefinition,
} from "../../../../src/kit/senders/engine/define-sender.js";
import { standardWebhooks } from "../../../../src/kit/senders/index.js";
import { memoryStore } from "../../../../src/kit/stores/memory.js";
import { createManualClock } from "../../../../src/kit/testing/index.js";
import { inboxPage } from "../../../../src/page/inbox/inbox-page.js";

const NOW = Date.UTC(2026, 10, 28, 12);
const SECRET = "a-secret-of-ours";
const BODY = Buffer.from('{"id":"evt_1","type":"paid"}');

const own = (definition: Partial<SenderDefinition>) =>
  defineSender({
    name: "own",
    read: ({ json }) => ({ id: json.id, type: json.type }),
    ...definition,
  });
const hmac = (
  body: Buffer | string,
  form: "hex" | "base64" | "base64url" = "hex",
  secret = SECRET,
) => createHmac("sha256", secret).update(body).digest(form);

type Options = Partial<SenderReceiverOptions<Record<string, unknown>>>;

async function start(definition: Partial<SenderDefinition>, options: Options = {}) {
  const clock = createManualClock(NOW);
  const receiver = createReceiver({
    sender: own(definition),
    secrets: SECRET,
    store: memoryStore(),
    onEvent: () => {},
    logger: false,
    ...options,
    clock,
  } as never);
  await receiver.start();
  const send = async (
    headers: Record<string, string | readonly string[]>,
    body = BODY,
    url?: string,
  ) => {
    const answer = await receiver.handle({ method: "POST", headers, body, url });
    return answer?.status === 200
      ? 200
      : (/"code":"(\w+)"/.exec(answer?.body ?? "")?.[1] ?? answer?.status);
  };
  return { clock, receiver, send };
}

test("a token in a header, under each of its names", async () => {
  const signature = { header: ["x-token", "x-old-token"], token: true, prefix: "Bearer " } as const;
  const { send } = await start({ signature });
  const right = `Bearer ${SECRET}`;
  expect(await send({ "x-token": right })).toBe(200);
  expect(await send({ "X-OLD-TOKEN": right.replace("B", "b") })).toBe(200);
  expect(await send({ "x-token": right, "x-old-token": right })).toBe(200);
  expect(await send({ "x-token": right, "x-old-token": "Bearer other" })).toBe(
    "signature_malformed",
  );
  expect(await send({})).toBe("signature_missing");
  for (const wrong of [SECRET, `Basic ${SECRET}`, "", "Bearer"])
    expect(await send({ "x-token": wrong })).toBe("signature_malformed");
  for (const wrong of [
    `${right} `,
    `${right}, ${right}`,
    `Bearer  ${SECRET}`,
    `Bearer ${SECRET.slice(1)}`,
    "Bearer ",
  ])
    expect(await send({ "x-token": wrong }), wrong).toBe("signature_mismatch");
  expect(await send({ "x-token": [right, right] })).toBe("signature_mismatch");
});

test("basic authentication, as Postmark's page has it", async () => {
  const { send } = await start({ signature: { basic: true } }, { secrets: "user:a:b" });
  const basic = (text: string) => ({
    authorization: `Basic ${Buffer.from(text).toString("base64")}`,
  });
  expect(await send(basic("user:a:b"))).toBe(200);
  for (const wrong of ["user:a", "user", "User:a:b", "user:a:b ", ":"])
    expect(await send(basic(wrong))).toBe("signature_mismatch");
  expect(await send({ authorization: "Bearer dXNlcjphOmI=" })).toBe("signature_malformed");
  await expect(start({ signature: { basic: true } })).rejects.toThrow("user:password");
});

test("RSA with SHA-256, as Wise signs", async () => {
  const [pair, other] = [
    generateKeyPairSync("rsa", { modulusLength: 2048 }),
    generateKeyPairSync("rsa", { modulusLength: 2048 }),
  ];
  const pem = pair.publicKey.export({ format: "pem", type: "spki" }).toString();
  const signature = {
    header: "X-Signature-SHA256",
    digest: "rsa-sha256",
    encoding: "base64",
  } as const;
  const { send } = await start({ signature }, { secrets: pem });
  const signed = (key = pair.privateKey, hash = "sha256", body = BODY) => ({
    "x-signature-sha256": sign(hash, body, key).toString("base64"),
  });
  expect(await send(signed())).toBe(200);
  expect(await send(signed(), Buffer.from("{}"))).toBe("signature_mismatch");
  expect(await send(signed(other.privateKey))).toBe("signature_mismatch");
  expect(await send(signed(pair.privateKey, "sha1"))).toBe("signature_mismatch");
  expect(await send({ "x-signature-sha256": hmac(BODY, "base64", pem) })).toBe(
    "signature_malformed",
  );
  const ec = generateKeyPairSync("ec", { namedCurve: "P-256" })
    .publicKey.export({ format: "pem", type: "spki" })
    .toString();
  for (const wrong of [
    SECRET,
    ec,
    pair.privateKey.export({ format: "pem", type: "pkcs8" }).toString(),
  ])
    await expect(start({ signature }, { secrets: wrong })).rejects.toThrow("public key");
});

test("base64url with padding, as Merge signs, and without, as Sanity signs", async () => {
  const merge = await start({
    signature: { header: "X-Merge-Webhook-Signature", encoding: "base64url" },
  });
  const unpadded = hmac(BODY, "base64url");
  for (const text of [unpadded, `${unpadded}=`])
    expect(await merge.send({ "x-merge-webhook-signature": text })).toBe(200);
  for (const text of [hmac(BODY), unpadded.slice(1), `${unpadded}a`, `${unpadded}===`])
    expect(await merge.send({ "x-merge-webhook-signature": text }), text).toBe(
      "signature_malformed",
    );
  // Of base64 alone only the other alphabet is refused, where the signature has a letter of it.
  const sanity = await start({
    signature: {
      header: "sanity-webhook-signature",
      encoding: "base64url",
      list: { between: ",", assign: "=", signature: "v1", time: "t" },
      time: { list: true, form: "milliseconds" },
      message: ["time", ".", "body"],
    },
  });
  const made = hmac(`${NOW}.${BODY.toString()}`, "base64url");
  expect(await sanity.send({ "sanity-webhook-signature": `t=${NOW},v1=${made}` })).toBe(200);
  expect(await sanity.send({ "sanity-webhook-signature": `t=${NOW - 301_000},v1=${made}` })).toBe(
    "signature_mismatch",
  );
});

test("a list without names: Cronofy's published signature, alone and among others", async () => {
  const secrets = "CRN_NggYusqPGLxwjw5FHOJYOqSrTPNXy8WQf14OID";
  const signature = {
    header: "Cronofy-HMAC-SHA256",
    encoding: "base64",
    list: { between: "," },
  } as const;
  const { send } = await start({ signature, read: () => ({ id: "1", type: "x" }) }, { secrets });
  const body = Buffer.from('{"example":"well-known"}');
  const published = "5DxentQi5YSXODEzTVv06sRwJ3pULIz1KrYv20qxEK0=";
  const other = hmac(body, "base64");
  for (const value of [
    published,
    `${other},${published}`,
    `${published},${other}`,
    `,${published},x`,
  ])
    expect(await send({ "cronofy-hmac-sha256": value }, body), value).toBe(200);
  expect(await send({ "cronofy-hmac-sha256": other }, body)).toBe("signature_mismatch");
  for (const value of [`${other}, ${published}`, "", ",", Array(17).fill(published).join(",")])
    expect(await send({ "cronofy-hmac-sha256": value }, body), value).toBe("signature_malformed");
});

test("a signature under several names: equal ones are one, different ones are malformed", async () => {
  const { send } = await start({ signature: { header: ["x-sign", "x-sign-2"] } });
  const [right, wrong] = [hmac(BODY), hmac("other")];
  for (const headers of [
    { "x-sign": right },
    { "X-Sign-2": right },
    { "x-sign": right, "x-sign-2": right },
  ])
    expect(await send(headers as Record<string, string>)).toBe(200);
  expect(await send({ "x-sign": right, "x-sign-2": wrong })).toBe("signature_malformed");
  expect(await send({ "x-sign": wrong, "x-sign-2": right })).toBe("signature_malformed");
  expect(await send({ "x-sign": wrong, "x-sign-2": wrong })).toBe("signature_mismatch");
});

test("OPTIONS is answered by the sender's function, as CloudEvents wants it, and otherwise with 405", async () => {
  const signature = { header: "x-sign" };
  const options = ({ headers }: { headers: Readonly<Record<string, string>> }) =>
    headers["webhook-request-origin"] === "events.example"
      ? {
          text: "",
          headers: { "WebHook-Allowed-Origin": "events.example", Allow: "POST, OPTIONS" },
        }
      : ("refused" as const);
  const ask = async (definition: Partial<SenderDefinition>, origin: string) =>
    (await start(definition)).receiver.handle({
      method: "OPTIONS",
      url: "/hook?a=1",
      headers: { "WebHook-Request-Origin": origin },
      body: new Uint8Array(),
    });
  expect(await ask({ signature, handshake: { options } }, "events.example")).toMatchObject({
    status: 200,
    headers: {
      "WebHook-Allowed-Origin": "events.example",
      Allow: "POST, OPTIONS",
      "X-Content-Type-Options": "nosniff",
    },
    body: "",
  });
  expect(await ask({ signature, handshake: { options } }, "evil.example")).toMatchObject({
    status: 403,
  });
  expect(await ask({ signature }, "events.example")).toMatchObject({
    status: 405,
    headers: { Allow: "POST" },
  });
});

test.each<[string, unknown, number | string]>([
  ["true", () => true, 200],
  ["a promise of true", () => Promise.resolve(true), 200],
  ["false", () => false, "signature_mismatch"],
  ["a text", () => "yes", "signature_mismatch"],
  ["1", () => 1, "signature_mismatch"],
  ["an object", () => ({}), "signature_mismatch"],
  ["a promise of a text", () => Promise.resolve("yes"), "signature_mismatch"],
  ["nothing", () => undefined, "signature_mismatch"],
  ["a throw", () => expect.fail("thrown"), "signature_mismatch"],
  ["a rejection", () => Promise.reject(new Error("down")), "signature_mismatch"],
])("a function that verifies and returns %s", async (_name, verify, wanted) => {
  const { send, receiver } = await start({ verify: verify as () => boolean });
  expect(await send({ "x-sign": "1" })).toBe(wanted);
  expect(await receiver.inbox.list()).toHaveLength(wanted === 200 ? 1 : 0);
});

test("a function that verifies gets each secret, and what it needs", async () => {
  const seen: unknown[] = [];
  const verify: SenderDefinition["verify"] = ({ headers, body, url, secret, now }) => {
    seen.push([secret, url, now, Buffer.from(body).toString()]);
    return headers["x-sign"] === hmac(Buffer.from(body), "hex", secret);
  };
  const { send } = await start({ verify }, { secrets: ["first", "second"] });
  expect(await send({ "X-Sign": hmac(BODY, "hex", "second") }, BODY, "/hook?a=1")).toBe(200);
  expect(seen).toEqual(
    ["first", "second"].map((secret) => [secret, "/hook?a=1", NOW, BODY.toString()]),
  );
});

test("a function that never ends: the sender gets 503 at the deadline, and the memory is free again", async () => {
  let calls = 0;
  const verify = () => (++calls > 2 ? true : new Promise<boolean>(() => undefined));
  const maxQueued = { events: 100, bytes: 1024 * 1024 };
  const bodyLimitBytes = 1024 * 1024;
  const { send, clock, receiver } = await start(
    { verify, ackTimeoutMs: 2000, bodyLimitBytes },
    {
      maxQueued,
    },
  );
  const body = Buffer.concat([BODY, Buffer.alloc(600 * 1024, " ")]);
  const [first, second] = [send({}, body), send({}, body)];
  // Both do not fit: the older one makes room.
  expect(await first).toBe("overloaded");
  await clock.advance(2000);
  expect(await second).toBe("ack_timeout");
  expect(await send({}, body)).toBe(200);
  expect(await receiver.inbox.list()).toHaveLength(1);
});

test("a decoded key has at least 16 bytes, and no secret has blanks around it, at the start and at each look-up", async () => {
  const of = (length: number) => Buffer.alloc(length, 7).toString("base64");
  const made = (sender: object, secrets: unknown) =>
    createReceiver({ sender, secrets, store: memoryStore(), onEvent: () => {} } as never);
  for (const secret of [
    of(15),
    `whsec_${of(15)}`,
    "whsec_A",
    "whsec_A==",
    "whsec_",
    "whsec_not base64",
  ])
    expect(() => made(standardWebhooks(), secret), secret).toThrow("at least 16 bytes");
  for (const secret of [of(16), `whsec_${of(16)}`, `v1,whsec_${of(16)}`])
    made(standardWebhooks(), secret);

  const text = own({ signature: { header: "x-sign" } });
  const token = own({ signature: { header: "x-token", token: true } });
  const basic = own({ signature: { basic: true } });
  for (const sender of [text, token, basic, standardWebhooks()])
    for (const secret of [
      "us:er\n",
      " us:er",
      "us:er ",
      "\tus:er",
      `${of(16)}\n`,
      ` whsec_${of(16)}`,
      "us:er\u00a0",
    ])
      for (const secrets of [secret, [`us:er`, secret]])
        expect(() => made(sender, secrets), JSON.stringify(secret)).toThrow(/secret/);

  let current: string | string[] = SECRET;
  const { send } = await start({ signature: { header: "x-sign" } }, { secrets: () => current });
  expect(await send({ "x-sign": hmac(BODY) })).toBe(200);
  for (current of [`${SECRET}\n`, ` ${SECRET}`, [SECRET, `${SECRET} `]])
    for (const secret of [SECRET, `${SECRET}\n`, `${SECRET} `])
      expect(await send({ "x-sign": hmac(BODY, "hex", secret) })).toBe("secret_unavailable");
  current = SECRET;
  expect(await send({ "x-sign": hmac(BODY) })).toBe(200);
});

const signature = { header: "x-sign" };
test.each<[string, Partial<SenderDefinition>, string]>([
  [
    "a message without the body",
    { signature: { ...signature, message: ["a"] } },
    "signature.message",
  ],
  [
    "a time that is not signed",
    { signature: { ...signature, time: { header: "x-time" } } },
    "signature.message",
  ],
  [
    "an id that touches the body",
    { signature: { ...signature, id: "x-id", message: ["id", "body"] } },
    "signature.message",
  ],
  [
    "a body that touches the id",
    { signature: { ...signature, id: "x-id", message: ["body", "", "id"] } },
    "signature.message",
  ],
  [
    "an id that touches a number",
    {
      signature: {
        ...signature,
        id: "x-id",
        time: { header: "x-t" },
        message: ["id", "time", ".", "body"],
      },
    },
    "signature.message",
  ],
  [
    "an address of a function that touches the body",
    { publicUrl: () => "https://a.example", signature: { ...signature, message: ["url", "body"] } },
    "signature.message",
  ],
  ["an authorization among its headers", { signature, headers: ["Authorization"] }, "headers"],
  ["a cookie among its headers", { signature, headers: ["cookie"] }, "headers"],
  [
    "its token among its headers",
    { signature: { header: "X-Token", token: true }, headers: ["x-token"] },
    "headers",
  ],
  [
    "its token as its id",
    { signature: { header: "X-Token", token: true, id: "x-token" } },
    "signature.id",
  ],
  ["its password as its id", { signature: { basic: true, id: "authorization" } }, "signature.id"],
  [
    "a token in a header that is always kept",
    { signature: { header: "User-Agent", token: true } },
    "signature.header",
  ],
  ["neither a signature nor a function", {}, "signature"],
  ["both of them", { signature, verify: () => true }, "signature"],
  ["an id that nothing signs", { signature: { ...signature, id: "x-id" } }, "signature.id"],
])("a definition with %s is refused", (_name, definition, option) => {
  expect(() => own(definition)).toThrow(`"${option}"`);
});

test.each<[string, SenderDefinition["signature"], Record<string, string>, string]>([
  [
    "token",
    { header: ["x-token", "x-other-token"], token: true, id: "x-id" },
    { "x-token": "top-secret-1", "x-id": "7" },
    "top-secret-1",
  ],
  [
    "token under another name",
    { header: ["x-token", "x-other-token"], token: true },
    { "x-other-token": "top-secret-1" },
    "top-secret-1",
  ],
  ["password", { basic: true }, { authorization: "Basic dG9wOnNlY3JldC0x" }, "top:secret-1"],
])(
  "a %s in a header is in no row, hand-off, entry, export, answer of the page or log",
  async (_name, scheme, headers, secrets) => {
    const shown: string[] = [];
    const logger = pino({ level: "trace" }, { write: (line: string) => void shown.push(line) });
    const store = memoryStore();
    const onEvent = (event: unknown, handoff: object) => {
      shown.push(
        JSON.stringify([event, handoff, Object.entries((handoff as { headers: object }).headers)]),
      );
      throw new Error("fails");
    };
    const definition = { signature: scheme, headers: ["x-topic"] };
    const { send, receiver } = await start(definition, { logger, store, onEvent, secrets });
    expect(await send({ ...headers, "x-topic": "t", "user-agent": "sender/1" })).toBe(200);
    const wrong = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value.replace(/.$/, "!")]),
    );
    expect(await send({ ...headers, "content-encoding": "gzip" })).toBe("encoding_unsupported");
    expect(await send(wrong)).toBe("signature_mismatch");
    expect(await send(headers, Buffer.from("no json"))).toBe(200);
    const entries = await receiver.inbox.list();
    expect(entries).toHaveLength(2);
    for (const { eventId } of entries)
      shown.push(JSON.stringify(await receiver.inbox.get(eventId)));
    shown.push(JSON.stringify(receiver.health()), JSON.stringify(await receiver.inbox.stats()));

    const server = createServer(inboxPage(receiver, { authorize: () => true }) as never);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const ids = entries.map(({ eventId }) => encodeURIComponent(eventId));
    for (const path of [
      "",
      "api/events",
      "api/overview",
      "api/export",
      ...ids.map((id) => `api/event?endpoint=default&id=${id}`),
    ]) {
      const answer = await fetch(`${base}/${path}`);
      shown.push(await answer.text());
      expect(answer.status, `${path}: ${shown.at(-1)}`).toBe(200);
    }
    server.close();
    await receiver.close({ graceMs: 0 });

    const all = shown.join("\n");
    expect(all).toContain("sender/1");
    for (const secret of [secrets, ...Object.values(headers).filter((value) => value.length > 2)])
      expect(all).not.toContain(secret);
    expect(all).not.toContain(Buffer.from(secrets).toString("base64"));
  },
);
