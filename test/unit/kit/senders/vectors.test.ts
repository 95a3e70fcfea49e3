import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { createReceiver } from "../../../../src/kit/index.js";
import type { AnySender } from "../../../../src/kit/senders/engine/sender.js";
import { memoryStore } from "../../../../src/kit/stores/memory.js";
import { createManualClock } from "../../../../src/kit/testing/index.js";
import { errorOf } from "../../signalbox-error-of.js";
import {
  deliveredOf,
  FILES,
  readingOf,
  SENDERS,
  VECTORS,
  verdictOf,
  type Delivered,
  type Vector,
} from "./published-vectors.js";

const EACH = VECTORS.map(({ name, sender, vector }) => [name, sender, vector] as const);
/** A signature in a header, in hex or base64. */
const SIGNATURE = /[0-9a-f]{40,}|[A-Za-z0-9+/]{27,}={0,2}/g;
/** What stands between two signatures, of the senders that can send several. */
const BETWEEN: Readonly<Record<string, string>> = {
  stripe: ",",
  paddle: ";",
  "standard-webhooks": " ",
  svix: " ",
  gitlab: " ",
};
const OTHER_SECRET = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/** Of the header with the signature. */
function changeSignature(
  sender: AnySender,
  delivered: Delivered,
  change: (value: string) => string,
): Delivered {
  const value = change(delivered.headers[sender.signatureHeader] as string);
  return { ...delivered, headers: { ...delivered.headers, [sender.signatureHeader]: value } };
}

/** Signed here, with another secret or at another time. */
function signedAgain(
  sender: AnySender,
  vector: Vector,
  secret: string,
  now = vector.now,
): Delivered {
  const delivered = deliveredOf(vector);
  const signed = sender.sign(delivered.body, { secret, now, headers: vector.headers });
  return { ...delivered, headers: { ...vector.headers, ...signed } };
}

const isForm = ({ headers }: Vector): boolean =>
  headers["content-type"] === "application/x-www-form-urlencoded";
const signsTime = (sender: AnySender, vector: Vector): boolean => {
  const signature = sender.signature(vector.headers, vector.url);
  return signature.ok && signature.signedAt(Buffer.from(vector.body)) !== null;
};

test("each sender has a file of at least two vectors, and no file is of an unknown sender", () => {
  expect(FILES.sort()).toEqual(Object.keys(SENDERS).sort());
  for (const [name, make] of Object.entries(SENDERS)) {
    expect(make().name).toBe(name);
    expect(VECTORS.filter(({ file }) => file === name).length, name).toBeGreaterThanOrEqual(2);
  }
});

test("each vector says where it is from, and each sender has one of an event", () => {
  for (const { name, vector } of VECTORS) {
    expect(vector.from, name).toBeOneOf(["published", "official library", "sender's sample code"]);
    expect(vector.source, name).toMatch(/^https:\/\/[\w.]+\/\S+$/);
    if (vector.from !== "published") expect(vector.note, name).toMatch(/\d/);
  }
  expect(new Set(VECTORS.map(({ name }) => name)).size).toBe(VECTORS.length);
  const events = VECTORS.filter(
    ({ vector: { expected } }) => expected !== null && "type" in expected,
  );
  expect(new Set(events.map(({ file }) => file)).size).toBe(14);
});

test("nine senders sign a time, with the age that each documents; of the others an old delivery cannot be told", () => {
  const timed = VECTORS.filter(({ sender, vector }) => signsTime(sender, vector));
  expect(
    Object.fromEntries(
      timed.map(({ file, sender }) => [file, sender.limits.toleranceSeconds ?? 300]),
    ),
  ).toEqual({
    "standard-webhooks": 300,
    svix: 300,
    gitlab: 300,
    stripe: 300,
    slack: 300,
    // Its library refuses after 5 seconds, which a clock may be wrong by.
    paddle: 300,
    // Its retries may have the bytes of the first try: two days, less the 300 seconds that it may
    // be in the future.
    linear: 172_500,
    // The last of its retries comes 85 minutes after the first try.
    zoom: 5700,
    twitch: 600,
  });
});

test.each(EACH)(
  "%s is accepted, with the secret that signed it among others",
  (_name, sender, vector) => {
    const delivered = deliveredOf(vector);
    expect(verdictOf(sender, delivered)).toBe(0);
    expect(
      verdictOf(sender, { ...delivered, secrets: [OTHER_SECRET, vector.secret, "another"] }),
    ).toBe(1);
    expect(sender.secretProblem(vector.secret)).toBeNull();
  },
);

test.each(EACH)("%s is read as documented", (_name, sender, vector) => {
  const { expected } = vector;
  const reading = readingOf(sender, deliveredOf(vector));
  if (expected === null) expect(reading.kind).toBe("unusable");
  else if (!("answer" in expected))
    expect(reading).toMatchObject({ kind: "event", quarantine: null, ...expected });
});

test.each([
  [
    "github",
    { "x-github-event": "issues", "x-github-delivery": "1" },
    "payload",
    '{"action":"deleted"}',
  ],
  ["slack", {}, "payload", '{"type":"block_actions","team":{"id":"T1"}}'],
  ["slack", {}, "command", "/deploy"],
])(
  "%s: the content type is not signed, so with another one JSON does not become a form",
  (name, headers, field, value) => {
    const sender = (SENDERS[name] as () => AnySender)();
    // Text that anybody can write into an issue or a message.
    const text = `&${field}=${encodeURIComponent(value)}&`;
    const body = Buffer.from(
      JSON.stringify({
        action: "opened",
        type: "event_callback",
        event: { type: "message", text },
      }),
    );
    const secrets = ["a secret"];
    const signed = sender.sign(body, { secret: "a secret", now: 0, headers });
    const typed = { ...signed, ...headers, "content-type": "application/x-www-form-urlencoded" };
    const delivered = { headers: typed, body, secrets, now: 0 };
    expect(verdictOf(sender, delivered)).toBe(0);
    const reading = readingOf(sender, delivered);
    const asJson = readingOf(sender, {
      ...delivered,
      headers: { ...typed, "content-type": "application/json" },
    });
    if (reading.kind !== "unusable") expect(reading).toEqual(asJson);
  },
);

test.each(EACH)("%s goes the whole way through a receiver", async (_name, sender, vector) => {
  const { secret, headers, body, url, now, expected } = vector;
  const clock = createManualClock(now);
  const store = memoryStore();
  const receiver = createReceiver({
    sender,
    secrets: secret,
    store,
    onEvent: () => {},
    clock,
    logger: false,
  });
  await receiver.start();
  const handle = (bytes: string) =>
    receiver.handle({ method: "POST", url, headers, body: Buffer.from(bytes) });
  const answer = await handle(body);
  expect(answer?.status).toBe(200);
  const entries = await receiver.inbox.list();
  if (expected !== null && "answer" in expected) {
    expect(entries).toEqual([]);
    const { answer: wanted } = expected;
    if (typeof wanted === "string")
      expect(answer?.body).toSatisfy((text) => text === wanted || isChallenge(text, wanted));
    else expect(JSON.parse(answer?.body ?? "")).toEqual(wanted);
  } else {
    expect(entries).toHaveLength(1);
    const { id, type } = expected ?? { id: undefined, type: "" };
    expect(entries[0]).toMatchObject({ type, ...(expected === null && { state: "quarantined" }) });
    expect(entries[0]?.eventId).toBe(id ?? entries[0]?.eventId.match(/^sha256:[0-9a-f]{64}$/)?.[0]);
    expect((await handle(body))?.status).toBe(200);
    expect(await receiver.inbox.list()).toHaveLength(1);
  }
  expect((await handle(`${body} `))?.status).toBe(401);
  await receiver.close();
});

/** Slack takes the challenge as text and as JSON. */
const isChallenge = (text: string, challenge: string): boolean =>
  text === JSON.stringify({ challenge });

test.each(EACH)("1. %s with another byte in its body is refused", (_name, sender, vector) => {
  const { body, ...delivered } = deliveredOf(vector);
  for (const index of [0, Math.floor(body.length / 2), body.length - 1]) {
    const changed = Uint8Array.from(body);
    changed[index] = (changed[index] ?? 0) ^ 1;
    expect(verdictOf(sender, { ...delivered, body: changed })).toBe("signature_mismatch");
  }
  for (const changed of [
    body.subarray(1),
    body.subarray(0, -1),
    Buffer.concat([body, Buffer.from("0")]),
  ])
    expect(verdictOf(sender, { ...delivered, body: changed })).toBe("signature_mismatch");
});

test.each(EACH)(
  "2. %s with another signature, a part of it, or another prefix is refused",
  (_name, sender, vector) => {
    const delivered = deliveredOf(vector);
    const changed = (change: (value: string) => string) =>
      verdictOf(sender, changeSignature(sender, delivered, change));
    const first = (text: string) => (text.startsWith("a") ? "b" : "a");
    expect(
      changed((value) => value.replace(SIGNATURE, (text) => first(text) + text.slice(1))),
    ).toBe("signature_mismatch");
    expect(changed((value) => value.replace(SIGNATURE, (text) => text.slice(1)))).toBe(
      "signature_malformed",
    );
    expect(changed((value) => value.replace(SIGNATURE, (text) => `a${text}`))).toBe(
      "signature_malformed",
    );
    expect(changed((value) => value.replace(SIGNATURE, ""))).toBe("signature_malformed");
    // `v1=`, `v0=`, `h1=`, `v1,` and `sha256=` become those of another version; where there is no
    // prefix, there is one.
    const otherPrefix = (text: string) =>
      /(v1|v0|h1|sha256)([=,])/.test(text)
        ? text.replace(/(v1|v0|h1|sha256)([=,])/g, "w9$2")
        : `sha256=${text}`;
    expect(changed(otherPrefix)).toBe("signature_malformed");
    expect(changed((value) => ` ${value}`)).toBe("signature_malformed");
    // Sent twice, and so joined by whoever is first.
    const twice = [
      delivered.headers[sender.signatureHeader],
      delivered.headers[sender.signatureHeader],
    ] as string[];
    const both = {
      ...delivered,
      headers: { ...delivered.headers, [sender.signatureHeader]: twice },
    };
    // Of two lists joined by a proxy, the candidates count alone; each of them must be right by
    // itself.
    expect(verdictOf(sender, both)).toBeOneOf([
      sender.name in BETWEEN ? 0 : "signature_malformed",
      "signature_malformed",
    ]);
    const { [sender.signatureHeader]: _gone, ...without } = delivered.headers;
    expect(verdictOf(sender, { ...delivered, headers: without })).toBe("signature_missing");
  },
);

test.each(EACH)(
  "3. %s is refused too early and too late, and with another time",
  (_name, sender, vector) => {
    const delivered = deliveredOf(vector);
    const at = (seconds: number) =>
      verdictOf(sender, { ...delivered, now: vector.now + seconds * 1000 });
    if (!signsTime(sender, vector)) {
      expect(at(100_000_000)).toBe(0);
      return;
    }
    const { toleranceSeconds = 300 } = sender.limits;
    expect(at(toleranceSeconds)).toBe(0);
    expect(at(toleranceSeconds + 1)).toBe("timestamp_out_of_tolerance");
    // A time in the body may be old, since the bytes are sent again; it is not in the future.
    const aheadSeconds = sender.name === "linear" ? 300 : toleranceSeconds;
    expect(at(-aheadSeconds)).toBe(0);
    expect(at(-aheadSeconds - 1)).toBe("timestamp_out_of_tolerance");

    // The time is signed: a captured delivery cannot get a new one. Linear's stands in the body,
    // which has its own test.
    const time = Object.entries(vector.headers).find(([name]) => /time-?stamp/.test(name));
    const later = changeSignature(sender, delivered, (value) =>
      value.replace(/(ts?=\d+)\d/, "$19"),
    );
    if (sender.name !== "linear")
      expect(
        verdictOf(sender, {
          ...delivered,
          headers: {
            ...later.headers,
            ...(time && { [time[0]]: time[1].replace(/\d(?=Z?$)/, "7") }),
          },
        }),
      ).toBe("signature_mismatch");
    for (const wrong of ["", "0x5", "1e9", "soon", "-1"]) {
      const headers = time && { ...vector.headers, [time[0]]: wrong };
      if (headers !== undefined)
        expect(verdictOf(sender, { ...delivered, headers })).toBe("signature_malformed");
    }
  },
);

test.each(EACH)(
  "3. %s signed again is refused before and after the tolerance alone",
  (_name, sender, vector) => {
    // A time in the body is not written by `sign`, and Twilio's JSON is signed by its address.
    if (!signsTime(sender, vector) || sender.name === "linear") return;
    const { toleranceSeconds = 300 } = sender.limits;
    for (const direction of [-1, 1]) {
      const at = (seconds: number) =>
        verdictOf(
          sender,
          signedAgain(sender, vector, vector.secret, vector.now + direction * seconds * 1000),
        );
      expect(at(toleranceSeconds)).toBe(0);
      expect(at(toleranceSeconds + 1)).toBe("timestamp_out_of_tolerance");
    }
  },
);

test.each(EACH)(
  "4. %s with a second, wrong signature: alone it is refused",
  (_name, sender, vector) => {
    const delivered = deliveredOf(vector);
    const wrong = signedAgain(sender, vector, OTHER_SECRET);
    expect(verdictOf(sender, wrong)).toBe("signature_mismatch");
    const [right, other] = [delivered, wrong].map(
      ({ headers }) => headers[sender.signatureHeader] as string,
    );
    const between = BETWEEN[sender.name];
    if (between === undefined || right === undefined || other === undefined) return;
    // Of a list with a time, such as `t=1,v1=ab`, the second part.
    const signature = other.split(between).at(-1) as string;
    expect(
      verdictOf(
        sender,
        changeSignature(sender, delivered, () => right + between + signature),
      ),
    ).toBe(0);
    const many = Array.from({ length: 20 }, () => signature).join(between);
    expect(
      verdictOf(
        sender,
        changeSignature(sender, delivered, () => right + between + many),
      ),
    ).toBe("signature_malformed");
  },
);

test.each(EACH)("5. %s is refused once its secret is no longer there", (_name, sender, vector) => {
  const delivered = deliveredOf(vector);
  for (const secrets of [
    [OTHER_SECRET],
    [`${vector.secret.slice(0, -4)}AAAA`, OTHER_SECRET],
    [vector.secret.slice(0, -4)],
    [],
  ])
    expect(verdictOf(sender, { ...delivered, secrets })).toBe("signature_mismatch");
});

test.each(EACH)(
  "6. %s is refused when its body was parsed and written again",
  (_name, sender, vector) => {
    let again: string;
    try {
      again = JSON.stringify(JSON.parse(vector.body), null, 3);
    } catch {
      // Of a form Twilio signs the fields, not the bytes.
      if (isForm(vector) && sender.name === "twilio") return;
      again = isForm(vector)
        ? vector.body.replaceAll(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase())
        : `${vector.body}\n`;
    }
    expect(again).not.toBe(vector.body);
    expect(verdictOf(sender, { ...deliveredOf(vector), body: Buffer.from(again) })).toBe(
      "signature_mismatch",
    );
  },
);

test.each(EACH)(
  "7. %s is refused with an empty secret, and nothing is signed with one",
  (_name, sender, vector) => {
    const delivered = deliveredOf(vector);
    for (const secret of ["", " ", "\n"]) {
      expect(verdictOf(sender, { ...delivered, secrets: [secret] })).toBe("signature_mismatch");
      expect(errorOf(() => signedAgain(sender, vector, secret))).toMatchObject({
        code: "secret_invalid",
      });
    }
  },
);

test.each(["", "   ", "whsec_"])(
  "7. what is signed with the empty secret %j is refused",
  (secret) => {
    const body = '{"type":"ping"}';
    const hmac = (text: string, encoding: "hex" | "base64") =>
      ["", secret].map((key) => createHmac("sha256", key).update(text).digest(encoding));
    const now = 1_700_000_000_000;
    const forged: [string, Record<string, string>][] = [
      ...hmac(body, "hex").map((v): [string, Record<string, string>] => [
        "github",
        { "x-hub-signature-256": `sha256=${v}` },
      ]),
      ...hmac(`1700000000.${body}`, "hex").map((v): [string, Record<string, string>] => [
        "stripe",
        { "stripe-signature": `t=1700000000,v1=${v}` },
      ]),
      ...hmac(`msg_1.1700000000.${body}`, "base64").map((v): [string, Record<string, string>] => [
        "standard-webhooks",
        {
          "webhook-id": "msg_1",
          "webhook-timestamp": "1700000000",
          "webhook-signature": `v1,${v}`,
        },
      ]),
    ];
    for (const [name, headers] of forged) {
      // `whsec_` is a text with content where the whole text is the key.
      if (secret === "whsec_" && name !== "standard-webhooks") continue;
      const sender = (SENDERS[name] as () => AnySender)();
      const delivered = { headers, body: Buffer.from(body), secrets: [secret], now };
      expect(verdictOf(sender, delivered), name).toBe("signature_mismatch");
    }
  },
);

test.each(EACH)(
  "8. %s with its hex in capitals, or other base64, is refused",
  (_name, sender, vector) => {
    const delivered = deliveredOf(vector);
    const changed = (change: (text: string) => string) =>
      verdictOf(
        sender,
        changeSignature(sender, delivered, (value) => value.replace(SIGNATURE, change)),
      );
    if (/[0-9a-f]{40}/.test(vector.headers[sender.signatureHeader] ?? "")) {
      expect(changed((text) => text.toUpperCase())).toBe("signature_malformed");
      return;
    }
    expect(changed((text) => text.replace(/=$/, ""))).toBe("signature_malformed");
    expect(changed((text) => text.toLowerCase())).toBe("signature_mismatch");
    // Bits that are left over, which a decoder would ignore.
    expect(changed((text) => text.replace(/.=$/, "B="))).toBe("signature_mismatch");
  },
);
