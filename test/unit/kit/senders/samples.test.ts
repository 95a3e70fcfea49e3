import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { SENDERS } from "../../../../src/kit/senders/records.js";
import { signerOf, SIGNERS, TWILIO_URL, twilioText } from "./independent-signers.js";
import { samplesFor } from "./sample-deliveries.js";
import { NOW, startFor, type Sent } from "./sender-rig.js";

/** Its types declare a module that it is not. */
const GITHUB_EXAMPLES = createRequire(import.meta.url)("@octokit/webhooks-examples") as {
  name: string;
  examples: { action?: string; repository?: { full_name: string } }[];
}[];

/** The id of an event whose sender has none: of the signed text, or of the bytes. */
const hashed = (name: string, body: Buffer) =>
  `sha256:${createHash("sha256")
    .update(
      name.startsWith("twilio") && !body.toString().startsWith("{") ? twilioText("", body) : body,
    )
    .digest("hex")}`;

test.each(SENDERS)(
  "$name has a signer in these tests, and a row in docs/senders.md",
  ({ name, factory }) => {
    expect(SIGNERS.map(({ sender }) => sender.name)).toContain(name);
    expect(readFileSync("docs/senders.md", "utf8")).toContain(`\n| \`${factory}(`);
  },
);

test("twilio's own text is tried with an address in front of it", () => {
  expect(twilioText(TWILIO_URL, Buffer.from("b=2&a=2&a=1&a=2"))).toBe(`${TWILIO_URL}a1a2b2`);
});

/** Sends each of them, and finds each with its facts: none is refused, quarantined or lost. */
async function expectReadAs(
  { sender, secret }: Pick<(typeof SIGNERS)[number], "sender" | "secret">,
  all: { sent: Sent; id: string; facts: { type: string } }[],
): Promise<void> {
  const { send, receiver } = await startFor(sender, secret);
  for (const { sent, facts } of all) expect(await send(sent), facts.type).toBe("accepted");
  for (const { id, facts } of all) expect(await receiver.inbox.get(id)).toMatchObject(facts);
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
}

test.each(SIGNERS)(
  "$name: each sample is read as it states, none is refused or quarantined",
  async (signer) => {
    const all = samplesFor(signer, NOW).map(
      ({ body, uuid, expected: { id, ...facts }, headers }) => {
        const signed = signer.sign({ body, now: NOW, id: uuid });
        const sent = { ...signed, headers: { ...headers, ...signed.headers }, body };
        return {
          sent,
          id: id === null ? hashed(signer.name, body) : id === "{header}" ? uuid : id,
          facts,
        };
      },
    );
    expect(all.length).toBeGreaterThan(0);
    await expectReadAs(signer, all);
  },
);

test.each([
  ["github", "x-github-delivery", "<b>1</b>"],
  ["github", "x-github-event", "a made-up type"],
  ["shopify", "x-shopify-webhook-id", "<b>1</b>"],
  ["shopify", "x-shopify-topic", "made up"],
  ["shopify", "x-shopify-shop-domain", "<b>"],
])("%s: what no signature covers has its sender's grammar: %s", async (name, header, value) => {
  const signer = signerOf(name);
  const [sample] = samplesFor(signer, NOW);
  const body = sample?.body ?? Buffer.of();
  const signed = signer.sign({ body, now: NOW, id: "1" });
  const { send } = await startFor(signer.sender, signer.secret);
  const headers = { ...sample?.headers, ...signed.headers };
  expect(await send({ body, headers: { ...headers, [header]: value } })).toBe("quarantined");
});

test.each(["JSON", "form"])(
  "github: each payload of its example collection, as %s",
  async (form) => {
    const signer = signerOf("github");
    const all = GITHUB_EXAMPLES.flatMap(({ name, examples }) =>
      examples.map((payload) => ({ name, payload })),
    ).map(({ name, payload }, index) => {
      const json = JSON.stringify(payload);
      const text = form === "JSON" ? json : new URLSearchParams({ payload: json }).toString();
      const id = `72d3162e-cc78-11e3-81ab-${String(index).padStart(12, "0")}`;
      const { headers } = signer.sign({ body: Buffer.from(text), now: NOW, id });
      const sent = { headers: { ...headers, "x-github-event": name }, body: text };
      const { action: subtype = null, repository } = payload;
      const subject = repository === undefined ? {} : { subject: repository.full_name };
      return { sent, id, facts: { type: name, subtype, ...subject } };
    });
    expect(all.length).toBeGreaterThan(300);
    await expectReadAs(signer, all);
  },
);
