import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { createReceiver } from "../../../../src/kit/index.js";
import { memoryStore } from "../../../../src/kit/stores/memory.js";
import { createManualClock } from "../../../../src/kit/testing/index.js";
import { signerOf, SIGNERS, TWILIO_URL, twilioText } from "./independent-signers.js";
import { samplesOf } from "./sample-deliveries.js";

/** Its types declare a module that it is not. */
const GITHUB_EXAMPLES = createRequire(import.meta.url)("@octokit/webhooks-examples") as {
  name: string;
  examples: { action?: string; repository?: { full_name: string } }[];
}[];
const NOW = Date.UTC(2026, 10, 28, 12);

async function startFor({ sender, secret }: Pick<(typeof SIGNERS)[number], "sender" | "secret">) {
  const clock = createManualClock(NOW);
  const options = {
    sender,
    secrets: secret,
    store: memoryStore(),
    onEvent: () => {},
    clock,
    logger: false,
  } as const;
  const receiver = createReceiver(options);
  await receiver.start();
  return receiver;
}

/** The id of an event whose sender has none: of the signed text, or of the bytes. */
const hashed = (name: string, body: Buffer) =>
  `sha256:${createHash("sha256")
    .update(
      name.startsWith("twilio") && !body.toString().startsWith("{") ? twilioText("", body) : body,
    )
    .digest("hex")}`;

test("twilio's own text is tried with an address in front of it", () => {
  expect(twilioText(TWILIO_URL, Buffer.from("b=2&a=2&a=1&a=2"))).toBe(`${TWILIO_URL}a1a2b2`);
});

test.each(SIGNERS)(
  "$name: each sample is read as it states, none is refused or quarantined",
  async (signer) => {
    const receiver = await startFor(signer);
    const samples = samplesOf(signer.sender.name, NOW).filter(
      ({ headers }) =>
        signer.sender.name !== "shopify" ||
        "shopify-topic" in headers === signer.name.includes("Events"),
    );
    expect(samples.length).toBeGreaterThan(0);
    const expected = [];
    for (const sample of samples) {
      const { body, uuid } = sample;
      const signed = signer.sign({ body, now: NOW, id: uuid });
      const headers = { ...sample.headers, ...signed.headers };
      const answer = await receiver.handle({ method: "POST", headers, body, url: signed.url });
      expect(answer?.status, `${sample.expected.type}: ${answer?.body}`).toBe(200);
      const { id } = sample.expected;
      expected.push({
        ...sample.expected,
        eventId: id === null ? hashed(signer.name, body) : id === "{header}" ? uuid : id,
      });
    }
    const found = await Promise.all(expected.map(({ eventId }) => receiver.inbox.get(eventId)));
    const facts = (
      each: { type: string; subtype: string | null; subject: string | null } | undefined,
    ) => each && [each.type, each.subtype, each.subject];
    expect(found.map(facts)).toEqual(expected.map(facts));
    expect(await receiver.inbox.stats()).toMatchObject({ quarantined: 0 });
    expect(new Set(expected.map(({ eventId }) => eventId)).size).toBe(samples.length);
    await receiver.close();
  },
);

test.each(["JSON", "form"])(
  "github: each payload of its example collection, as %s",
  async (form) => {
    const signer = signerOf("github");
    const receiver = await startFor(signer);
    const expected: {
      id: string;
      type: string;
      subtype: string | null;
      subject: string | undefined;
    }[] = [];
    for (const { name, examples: payloads } of GITHUB_EXAMPLES) {
      for (const payload of payloads) {
        const json = JSON.stringify(payload);
        const body = Buffer.from(
          form === "JSON" ? json : new URLSearchParams({ payload: json }).toString(),
        );
        const id = `72d3162e-cc78-11e3-81ab-${String(expected.length).padStart(12, "0")}`;
        const { headers } = signer.sign({ body, now: NOW, id });
        const answer = await receiver.handle({
          method: "POST",
          headers: { ...headers, "x-github-event": name },
          body,
        });
        expect(answer, name).toMatchObject({ status: 200, body: '{"received":true}' });
        expected.push({
          id,
          type: name,
          subtype: payload.action ?? null,
          subject: payload.repository?.full_name,
        });
      }
    }
    expect(expected.length).toBeGreaterThan(300);
    for (const { id, subject, ...facts } of expected) {
      const entry = await receiver.inbox.get(id);
      expect(entry).toMatchObject(facts);
      if (subject !== undefined) expect(entry?.subject).toBe(subject);
    }
    expect(await receiver.inbox.stats()).toMatchObject({ quarantined: 0 });
    await receiver.close();
  },
);
