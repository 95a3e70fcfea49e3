import { createHmac, randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import type { SenderDefinition } from "../../../../src/kit/senders/engine/define-sender.js";
import type { AnySender } from "../../../../src/kit/senders/engine/sender.js";
import { SIGNERS, signerOf } from "./independent-signers.js";
import { NOW, own, startFor } from "./sender-rig.js";

/*
 * What one forged request of the largest size costs, in CPU, before it is refused. Milliseconds are
 * no measure on a machine that is not known, so an HMAC over a copy of the same bytes and one over
 * 5 MiB are measured beside it, in turn: a copy costs many HMACs while the kernel finds new pages.
 */

const MIB = 1024 * 1024;
/**
 * How many HMACs of its bytes a refusal may take as long as, and of 5 MiB besides: about 4.5 ms
 * each where 20 ms were promised.
 */
const OF_ITS_BYTES = 3;
const OF_5_MIB = 8;

interface Case {
  name: string;
  sender: AnySender;
  secret: string;
  headers: Record<string, string>;
  body: Buffer;
  url?: string | undefined;
}

/** A delivery whose signature has the right form and is wrong: it is of another body. */
function forged(name: string, body?: Buffer, headers = {}): Case {
  const { sender, secret, ...signer } = signerOf(name);
  const other = Buffer.from(name.startsWith("twilio") ? "a=1" : "{}");
  const signed = signer.sign({ body: other, now: NOW, id: "1" });
  return {
    name,
    sender,
    secret,
    body: body ?? randomBytes(sender.limits.bodyLimitBytes ?? 0),
    url: signed.url,
    headers: { ...signed.headers, ...headers },
  };
}

const filled = (unit: string, size: number) => Buffer.alloc(size, unit);

function ofOwn(
  name: string,
  signature: SenderDefinition["signature"],
  secret: string,
  headers: Record<string, string>,
): Case {
  const sender = own({ signature });
  const body = randomBytes(sender.limits.bodyLimitBytes ?? 0);
  return { name: `own, ${name}`, sender, secret, headers, body };
}

const indexed = (count: number, make: (index: number) => string) =>
  Buffer.from(Array.from({ length: count }, (_each, index) => make(index)).join("&"));
const twilioForms: Readonly<Record<string, Buffer>> = {
  "many short names": indexed(100_000, (index) => index.toString(36)),
  "1,000 long names": indexed(1000, (index) => `${index}${"n".repeat(510)}`),
  "1,000 values of one name": indexed(1000, (index) => `a=${index}${"v".repeat(505)}`),
  "one name with many values": filled("a=1&", 512 * 1024),
  "only &": filled("&", 512 * 1024),
  "only %41": filled("%41", 512 * 1024),
  JSON: filled("{", 512 * 1024),
};
/** Signatures of other bytes: random ones are refused at once. */
const OTHER = Buffer.from("{}");
const times = (count: number, make: () => string) => Array.from({ length: count }, make);
const random = (encoding: "hex" | "base64") => () => randomBytes(32).toString(encoding);
const list = { between: "," };
const [v1a] = Object.values(forged("standard-webhooks, v1a", OTHER).headers).slice(-1) as [string];

const CASES: readonly Case[] = [
  ...SIGNERS.map(({ name }) =>
    forged(
      name,
      undefined,
      name === "gitlab, secret token" ? { "x-gitlab-token": "x".repeat(8000) } : {},
    ),
  ),
  ...Object.entries(twilioForms).map(([name, body]) => ({
    ...forged("twilio, SHA-1", body),
    name: `twilio, ${name}`,
  })),
  { ...forged("slack", filled("a=1&", 5 * MIB)), name: "slack, a form" },
  forged("standard-webhooks, v1a", undefined, {
    "webhook-signature": Array(4).fill(v1a).join(" "),
  }),
  forged("standard-webhooks", undefined, {
    "webhook-signature": times(16, () => `v1,${random("base64")()}`).join(" "),
  }),
  forged("stripe", undefined, {
    "stripe-signature": `t=${NOW / 1000},${times(16, () => `v1=${random("hex")()}`).join(",")}`,
  }),
  ofOwn("bare list of 16", { header: "x", encoding: "base64", list }, "s", {
    x: times(16, random("base64")).join(","),
  }),
  ofOwn("basic", { basic: true }, "user:password", { authorization: `Basic ${"A".repeat(8000)}` }),
  ofOwn("token", { header: "x", token: true }, "a secret", { x: "A".repeat(8000) }),
];

async function cpuMs(run: () => unknown): Promise<number> {
  const start = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

/** The least that each of the two took, in three turns; in ten at most, until `isEnough`. */
async function inTurn(
  one: () => unknown,
  other: () => unknown,
  isEnough: (leastOfOne: number, leastOfOther: number) => boolean,
): Promise<[number, number]> {
  const least: [number, number] = [Infinity, Infinity];
  for (let count = 0; count < 3 || (count < 10 && !isEnough(...least)); count++) {
    least[0] = Math.min(least[0], await cpuMs(one));
    least[1] = Math.min(least[1], await cpuMs(other));
  }
  return least;
}

const hmacOf = (body: Buffer) => () =>
  createHmac("sha256", "key").update(Buffer.from(body)).digest();

test("a forged request of the largest size costs little more than one HMAC of its bytes", async () => {
  const lines: string[] = [];
  const unit = hmacOf(randomBytes(5 * MIB));
  const [unitMs] = await inTurn(unit, unit, () => false);
  for (const { name, sender, secret, headers, body, url } of CASES) {
    const { receiver } = await startFor(sender, secret);
    const send = () => receiver.handle({ method: "POST", headers, body, url });
    expect((await send()).status, name).toBe(401);
    const mostOf = (hmacMs: number) => OF_ITS_BYTES * hmacMs + OF_5_MIB * unitMs;
    const [hmac, spent] = await inTurn(hmacOf(body), send, (one, other) => other < mostOf(one));
    lines.push(
      `${name}: ${spent.toFixed(1)} ms, ${(body.length / 1024).toFixed(0)} KiB, one HMAC ${hmac.toFixed(1)} ms`,
    );
    expect(spent, lines.join("\n")).toBeLessThan(mostOf(hmac));
    await receiver.close({ graceMs: 0 });
  }
  console.info(lines.join("\n"));
});

test("its measure can fail: twice as many HMACs as are allowed are too many", async () => {
  const most = OF_ITS_BYTES + OF_5_MIB;
  const hash = hmacOf(randomBytes(5 * MIB));
  const hashTooOften = () => {
    for (let count = 0; count < 2 * most; count++) hash();
  };
  const [hmac, spent] = await inTurn(hash, hashTooOften, () => true);
  expect(spent).toBeGreaterThan(most * hmac);
});
