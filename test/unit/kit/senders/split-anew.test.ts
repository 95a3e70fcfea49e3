import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { slack, twilio } from "../../../../src/kit/senders/index.js";
import { signerOf, TWILIO_URL, twilioText } from "./independent-signers.js";
import { NOW, own, startFor } from "./sender-rig.js";

/*
 * Who holds one captured delivery moves the borders of what is signed. Nothing of that is a second
 * event.
 */

const SECRET = signerOf("twilio, SHA-1").secret;
const senderOf = async (...of: Parameters<typeof startFor>) => (await startFor(...of)).send;

/** A delivery that is taken, and what becomes of it with each of other bodies at each of other addresses. */
interface Split {
  what: string;
  /** @default "fixed" */
  address?: keyof typeof ADDRESSES;
  body: string;
  url: string;
  /** What Twilio has signed, if not the body at the fixed address. */
  signed?: { url: string; body: string };
  attempts: { bodies?: string[]; urls?: string[]; type?: string; outcome: string }[];
}
const SPLITS = JSON.parse(
  readFileSync(new URL("twilio-splits.json", import.meta.url), "utf8"),
) as Split[];
const ADDRESSES = {
  fixed: TWILIO_URL,
  any: ({ url }: { url: string }) => `https://hooks.example${url}`,
  checked: ({ url }: { url: string }) =>
    /^\/twilio\?tenant=\d+$/.test(url) ? `https://hooks.example${url}` : null,
};

test.each(SPLITS)("twilio: $what", async ({ address = "fixed", body, url, signed, attempts }) => {
  const text = twilioText(signed?.url ?? TWILIO_URL, Buffer.from(signed?.body ?? body));
  for (const hash of ["sha1", "sha256"]) {
    const send = await senderOf(twilio({ publicUrl: ADDRESSES[address] }), SECRET);
    const signature = createHmac(hash, SECRET).update(text).digest("base64");
    const genuine = { headers: { "x-twilio-signature": signature }, body, url };
    expect(await send(genuine)).toBe("accepted");
    for (const { bodies = [body], urls = [url], type, outcome } of attempts) {
      const headers = { ...genuine.headers, ...(type && { "content-type": type }) };
      for (const otherBody of bodies)
        for (const otherUrl of urls)
          expect(
            await send({ headers, body: otherBody, url: otherUrl }),
            `${otherUrl} ${otherBody}`,
          ).toBeOneOf(outcome.split(" or "));
    }
  }
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
    const { "twitch-eventsub-message-id": id = "", "twitch-eventsub-message-timestamp": at = "" } =
      headers;
    const end = body.indexOf(time);
    // Into the id and out of it again, and into the body.
    for (const [otherId, otherTime, otherBody] of [
      [`${id}${at}${body.slice(0, end)}`, time, body.slice(end + time.length)],
      [`${id}${at.slice(0, 5)}`, at.slice(5), body],
      [id.slice(0, -1), `${id.at(-1)}${at}`, body],
      [id, at.slice(0, -1), `Z${body}`],
      [id, `${at}${body.slice(0, 1)}`, body.slice(1)],
      ["", `${id}${at}`, body],
    ] as const) {
      const moved = {
        ...headers,
        "twitch-eventsub-message-id": otherId,
        "twitch-eventsub-message-timestamp": otherTime,
      };
      expect(await send({ headers: moved, body: otherBody })).toBe("signature_malformed");
    }
    expect(await send({ headers, body })).toBeOneOf(["accepted", "quarantined"]);
  }
});

test.each([
  [["id", ".", "time", ".", "body"], "."],
  [["body", ":", "id"], ":"],
])(
  "an own sender that signs %j: the id does not contain what follows it",
  async (message, separator) => {
    const time = { header: "x-time" };
    const sender = own({
      signature: {
        header: "x-sign",
        id: "x-id",
        message,
        ...(message.includes("time") && { time }),
      },
      headers: ["x-id"],
      read: ({ json, headers }) => ({ id: headers["x-id"], type: json.type }),
    });
    const seconds = String(NOW / 1000);
    const genuine = `{"type":"x","t":"${separator}${seconds}${separator}{}"}`;
    const values: Record<string, string> = { id: "a", time: seconds, body: genuine };
    const whole = message.map((part) => values[part] ?? part).join("");
    const signature = createHmac("sha256", SECRET).update(whole).digest("hex");
    const send = await senderOf(sender, SECRET);
    const deliver = (id: string, body: string) =>
      send({ headers: { "x-id": id, "x-time": seconds, "x-sign": signature }, body });
    expect(await deliver("a", genuine)).toBe("accepted");
    const gap = separator + seconds + separator;
    for (let at = 0; at <= whole.length; at++)
      for (const [id, body] of [
        [whole.slice(0, at), whole.slice(at + separator.length)],
        [whole.slice(at + separator.length), whole.slice(0, at)],
        [whole.slice(0, at), whole.slice(at + gap.length)],
      ] as const)
        expect(await deliver(id, body)).toMatch(
          id === "a" && body === genuine ? "duplicate" : /^(signature_m|timestamp_out)/,
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
