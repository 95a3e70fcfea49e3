import { createHash, createHmac } from "node:crypto";
import { expect, test } from "vitest";
import type { PublicUrl } from "../../../../src/kit/senders/engine/scheme.js";
import { slack, twilio } from "../../../../src/kit/senders/index.js";
import { signerOf, TWILIO_URL, twilioText } from "./independent-signers.js";
import { NOW, own, startFor } from "./sender-rig.js";

/*
 * Who holds one captured delivery moves the borders of what is signed. Nothing of that is a second
 * event.
 */

const SECRET = signerOf("twilio, SHA-1").secret;
const FORM = "MessageSid=SM1&AccountSid=AC1&Body=hello+you&To=%2B15550100&SmsStatus=received";

const senderOf = async (...of: Parameters<typeof startFor>) => (await startFor(...of)).send;
const twilioOf = (publicUrl: PublicUrl = TWILIO_URL) => senderOf(twilio({ publicUrl }), SECRET);

const signedText = (text: string, hash = "sha1") =>
  createHmac(hash, SECRET).update(text).digest("base64");
const signedForm = (url: string, body: string, hash?: string) => ({
  "x-twilio-signature": signedText(twilioText(url, Buffer.from(body)), hash),
});

const HOOK = "/twilio?tenant=1";

test.each(["sha1", "sha256"])(
  "twilio, %s: a form in another order or spelling, or with moved borders, is a duplicate",
  async (hash) => {
    const send = await twilioOf();
    const headers = signedForm(TWILIO_URL, FORM, hash);
    const genuine = { headers, body: FORM, url: HOOK };
    expect(await send(genuine)).toBe("accepted");
    const bodies = [
      FORM.split("&").toReversed().join("&"),
      `&${FORM}`,
      `&&&${FORM}&`,
      `=&${FORM}`,
      `${FORM}&To=%2B15550100`,
      FORM.replace("=hello", "=%68ello"),
      // Between names and values, and between parameters that stand beside each other in the signed
      // text.
      FORM.replace("Body=hello+you", "Bodyhello+you="),
      FORM.replace("Body=hello+you", "Bo=dyhello+you"),
      "AccountSidAC1Bodyhello+youMessageSidSM1SmsStatusreceivedTo%2B15550100=",
      "AccountSid=AC1Bodyhello+you&MessageSid=SM1SmsStatusreceivedTo%2B15550100",
    ];
    for (const body of bodies) expect(await send({ ...genuine, body }), body).toBe("duplicate");
    for (const url of [`${HOOK}&x=1`, "/other", undefined, `${HOOK}&bodySHA256=${"0".repeat(64)}`])
      expect(await send({ ...genuine, url })).toBe("duplicate");
    const typed = { ...headers, "content-type": "application/json" };
    expect(await send({ ...genuine, headers: typed })).toBe("duplicate");
  },
);

test("twilio: text cannot move from the form into the address", async () => {
  const send = await twilioOf();
  const headers = signedForm(TWILIO_URL, FORM);
  const whole = twilioText("", Buffer.from(FORM));
  const moved: [string, string][] = [
    [`${HOOK}AccountSidAC1`, FORM.replace("AccountSid=AC1&", "")],
    ...["", "=", "{}", "x="].flatMap((body): [string, string][] => [
      [HOOK + whole, body],
      [HOOK + encodeURIComponent(whole), body],
    ]),
  ];
  for (const [url, body] of moved)
    expect(await send({ headers, body, url }), url).toBe("signature_mismatch");
});

test("twilio: a hash that somebody writes into a message is none of a body", async () => {
  const json = '{"MessageSid":"SM-FORGED","amount":1000000}';
  const digest = createHash("sha256").update(json).digest("hex");
  const publicUrls = [
    TWILIO_URL,
    ({ url }: { url: string }) =>
      /^\/twilio\?tenant=\d+$/.test(url) ? `https://hooks.example${url}` : null,
  ];
  for (const publicUrl of publicUrls) {
    const send = await twilioOf(publicUrl);
    for (const text of [
      `&bodySHA256=${digest}`,
      `?bodySHA256=${digest}`,
      `&bodySHA256=${digest}&`,
    ]) {
      const form = new URLSearchParams({ Body: text }).toString();
      const headers = signedForm(TWILIO_URL, form);
      const queries = [
        `1Body${text}`,
        `1${text}`,
        `1&bodySHA256=${digest}`,
        `1Body${text}&bodySHA256=${digest}`,
      ];
      for (const url of queries.map((query) => `/twilio?tenant=${query}`))
        for (const body of [json, ` ${json}`])
          expect(await send({ headers, body, url }), url).toBe("signature_mismatch");
      expect(await send({ headers, body: form, url: "/twilio?tenant=1" })).toBe("accepted");
    }
  }
});

test("twilio: the signature of a request with JSON is that of no form", async () => {
  const send = await twilioOf();
  const json = '{"MessageSid":"SM1"}';
  const end = `&bodySHA256=${createHash("sha256").update(json).digest("hex")}`;
  const headers = signedForm(TWILIO_URL + end, "");
  expect(await send({ headers, body: json, url: `/twilio?tenant=1${end}` })).toBe("accepted");
  for (const body of [
    encodeURIComponent(end),
    `${encodeURIComponent("&")}=${encodeURIComponent(end.slice(1))}`,
  ])
    expect(await send({ headers, body, url: "/twilio?tenant=1" })).toBe("signature_mismatch");
});

test("twilio: with an address from the request, neither its spelling nor its end makes a second event", async () => {
  const send = await twilioOf(({ url }) => `https://hooks.example${url}`);
  const form = `Body=${encodeURIComponent("see a:b, 'c'")}&From=x`;
  const headers = signedForm("https://hooks.example/twilio?name=o'neil&b=2", form);
  const genuine = { headers, body: form, url: "/twilio?name=o'neil&b=2" };
  expect(await send(genuine)).toBe("accepted");
  const spelt = [
    "?name=o%27neil&b=2",
    "?name=o%27ne%69l&b=2",
    "/../twilio?name=o'neil&b=2",
    "?b=2&name=o'neil",
  ];
  for (const url of spelt.map((end) => `/twilio${end}`))
    expect(await send({ ...genuine, url }), url).toBeOneOf(["duplicate", "signature_mismatch"]);
  const moved = twilioText(genuine.url, Buffer.from(form.replace("&From=x", "")));
  expect(await send({ headers, body: "From=x", url: moved })).toBe("duplicate");
  expect(await send({ headers, body: "=", url: twilioText(genuine.url, Buffer.from(form)) })).toBe(
    "duplicate",
  );
});

test("twitch: a time in the body is not taken for the signed one", async () => {
  const { sender, secret, sign } = signerOf("twitch");
  const time = new Date(NOW).toISOString();
  // A viewer writes a message with a time and a form in it, whose delivery is then captured.
  const text = `${time}payload=${encodeURIComponent('{"subscription":{"type":"forged"},"event":{}}')}&`;
  for (const body of [
    `{"event":{"text":"${text}"}}`,
    `{"subscription":{"created_at":"${time}"},"event":{}}`,
  ]) {
    const send = await senderOf(sender, secret);
    const { headers } = sign({ body: Buffer.from(body), now: NOW, id: "1" });
    const { "twitch-eventsub-message-id": id, "twitch-eventsub-message-timestamp": at } = headers;
    const end = body.indexOf(time);
    const moved = (otherId = "", otherTime = "", otherBody = "") => {
      const names = {
        "twitch-eventsub-message-id": otherId,
        "twitch-eventsub-message-timestamp": otherTime,
      };
      return send({ headers: { ...headers, ...names }, body: otherBody });
    };
    expect(
      await moved(`${id}${at}${body.slice(0, end)}`, time, body.slice(end + time.length)),
    ).toBe("signature_malformed");
    // Into the id and out of it again, and into the body.
    for (const [otherId, otherTime, otherBody] of [
      [`${id}${at?.slice(0, 5)}`, at?.slice(5), body],
      [id?.slice(0, -1), `${id?.at(-1)}${at}`, body],
      [id, at?.slice(0, -1), `Z${body}`],
      [id, `${at}${body.slice(0, 1)}`, body.slice(1)],
      ["", `${id}${at}`, body],
    ] as string[][])
      expect(await moved(otherId, otherTime, otherBody)).toBe("signature_malformed");
    expect(await send({ headers, body })).toBeOneOf(["accepted", "quarantined"]);
  }
});

test.each([
  [["id", ".", "time", ".", "body"], "."],
  [["body", ":", "id"], ":"],
])(
  "an own sender that signs %j: the id does not contain what follows it",
  async (message, separator) => {
    const sender = own({
      signature: {
        header: "x-sign",
        id: "x-id",
        message,
        ...(message.includes("time") && { time: { header: "x-time" } }),
      },
      headers: ["x-id"],
      read: ({ json, headers }) => ({ id: headers["x-id"], type: json.type }),
    });
    const time = String(NOW / 1000);
    const values: Record<string, string> = {
      id: "a",
      time,
      body: `{"type":"x","t":"${separator}${time}${separator}{}"}`,
    };
    const whole = message.map((part) => values[part] ?? part).join("");
    const signature = createHmac("sha256", SECRET).update(whole).digest("hex");
    const send = await senderOf(sender, SECRET);
    const deliver = (id: string, body: string) =>
      send({ headers: { "x-id": id, "x-time": time, "x-sign": signature }, body });
    expect(await deliver("a", values["body"] as string)).toBe("accepted");
    for (let at = 0; at <= whole.length; at++)
      for (const [id, body] of [
        [whole.slice(0, at), whole.slice(at + separator.length)],
        [whole.slice(at + separator.length), whole.slice(0, at)],
        [whole.slice(0, at), whole.slice(at + `${separator}${time}${separator}`.length)],
      ] as const)
        expect(await deliver(id, body)).toBeOneOf(
          id === "a" && body === values["body"]
            ? ["duplicate"]
            : ["signature_malformed", "signature_mismatch", "timestamp_out_of_tolerance"],
        );
  },
);

test("slack: an unsigned certificate check carries nothing", async () => {
  const send = await senderOf(slack(), SECRET);
  const check = (body: string, length = String(body.length)) =>
    send({
      headers: { "content-length": length, "content-type": "application/x-www-form-urlencoded" },
      body,
    });
  expect(await check("ssl_check=1&token=a")).toBe("200");
  for (const body of [
    "ssl_check=1&command=/x",
    "ssl_check=1&payload={}",
    "ssl_check=0&token=a",
    "token=a",
    '{"ssl_check":"1"}',
  ])
    expect(await check(body), body).toBe("signature_missing");
  // A length that is not that of the body, as a front end may pass on.
  expect(await check(`ssl_check=1&token=${"a".repeat(2000)}`, "30")).toBe("signature_missing");
});
