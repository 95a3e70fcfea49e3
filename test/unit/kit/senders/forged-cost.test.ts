import {
  createHash,
  createHmac,
  generateKeyPairSync,
  randomBytes,
  sign,
  type KeyObject,
} from "node:crypto";
import { expect, test } from "vitest";
import { createReceiver } from "../../../../src/kit/index.js";
import { defineSender } from "../../../../src/kit/senders/engine/define-sender.js";
import type { SignatureScheme } from "../../../../src/kit/senders/engine/scheme.js";
import type { AnySender } from "../../../../src/kit/senders/engine/sender.js";
import { memoryStore } from "../../../../src/kit/stores/memory.js";
import { createManualClock } from "../../../../src/kit/testing/index.js";
import { SIGNERS, signerOf } from "./independent-signers.js";

/*
 * What one forged request of the largest size costs, in CPU, before it is refused. Milliseconds are
 * no measure on a machine that is not known, so an HMAC over a copy of the same bytes and one over
 * 5 MiB are measured beside it, in turn: a copy costs many HMACs while the kernel finds new pages.
 */

const NOW = Date.UTC(2026, 10, 28, 12);
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

/** A delivery whose signature has the right form and is wrong. */
function forged(signer: (typeof SIGNERS)[number], body: Buffer): Case {
  const { sender, secret, name } = signer;
  const { headers, url } = signer.sign({
    body: Buffer.from(name.startsWith("twilio") ? "a=1" : "{}"),
    now: NOW,
    id: "1",
  });
  // Signed over another body; of the secret token a wrong one.
  const other =
    name === "gitlab, secret token" ? { ...headers, "x-gitlab-token": "x".repeat(8000) } : headers;
  return { name, sender, secret, headers: other, body, url };
}

const sizeOf = (sender: AnySender) => sender.limits.bodyLimitBytes ?? 0;
const filled = (unit: string, size: number) => Buffer.alloc(size, unit);

function own(
  name: string,
  signature: SignatureScheme,
  secret: string,
  headers: Record<string, string>,
  size: number,
): Case {
  const sender = defineSender({ name: "own", signature, read: () => ({ id: null, type: "x" }) });
  return { name, sender, secret, headers, body: randomBytes(size) };
}

const names = (count: number) =>
  Array.from({ length: count }, (_each, index) => index.toString(36)).join("&");
const twilioSigner = signerOf("twilio, SHA-1");
const twilioForms: Readonly<Record<string, Buffer>> = {
  "many short names": Buffer.from(names(120_000).slice(0, 512 * 1024)),
  "1,000 long names": Buffer.from(
    Array.from({ length: 1000 }, (_each, index) => `${index}${"n".repeat(510)}`).join("&"),
  ),
  "one name with many values": filled("a=1&", 512 * 1024),
  "1,000 values of one name": Buffer.from(
    Array.from({ length: 1000 }, (_each, index) => `a=${index}${"v".repeat(505)}`).join("&"),
  ),
  "only &": filled("&", 512 * 1024),
  "only %": filled("%", 512 * 1024),
  "only %41": filled("%41", 512 * 1024),
  "only +": filled("+", 512 * 1024),
  JSON: filled("{", 512 * 1024),
};
const rsa = generateKeyPairSync("rsa", { modulusLength: 4096 });
const ed = generateKeyPairSync("ed25519");
const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
const pem = (key: typeof rsa.publicKey) => key.export({ format: "pem", type: "spki" }).toString();
/** Signatures of other bytes: random ones are refused at once. */
const OTHER = Buffer.from("{}");
const candidates = (count: number, bytes: number) =>
  Array.from({ length: count }, () => randomBytes(bytes).toString("base64")).join(",");
const signatures = (hash: string | null, key: KeyObject) =>
  Array.from({ length: 4 }, () => sign(hash, OTHER, key).toString("base64")).join(",");
const standard = signerOf("standard-webhooks, v1a");
const list = { between: "," };

const CASES: readonly Case[] = [
  ...SIGNERS.map((signer) => forged(signer, randomBytes(sizeOf(signer.sender)))),
  ...Object.entries(twilioForms).map(([name, body]) => ({
    ...forged(twilioSigner, body),
    name: `twilio, ${name}`,
  })),
  { ...forged(signerOf("slack"), filled("a=1&", 5 * MIB)), name: "slack, a form" },
  {
    ...forged(standard, randomBytes(MIB)),
    name: "standard-webhooks, 4 candidates v1a",
    headers: {
      ...forged(standard, randomBytes(1)).headers,
      "webhook-signature": Array(4)
        .fill(forged(standard, OTHER).headers["webhook-signature"])
        .join(" "),
    },
  },
  {
    ...forged(signerOf("standard-webhooks"), randomBytes(5 * MIB)),
    name: "standard-webhooks, 16 candidates",
    headers: {
      ...forged(signerOf("standard-webhooks"), randomBytes(1)).headers,
      "webhook-signature": Array.from(
        { length: 16 },
        () => `v1,${randomBytes(32).toString("base64")}`,
      ).join(" "),
    },
  },
  {
    ...forged(signerOf("stripe"), randomBytes(5 * MIB)),
    name: "stripe, 16 candidates",
    headers: {
      "stripe-signature": [
        `t=${NOW / 1000}`,
        ...Array.from({ length: 16 }, () => `v1=${randomBytes(32).toString("hex")}`),
      ].join(","),
    },
  },
  own(
    "own, SHA-256, bare list of 16",
    { header: "x", encoding: "base64", list },
    "s",
    { x: candidates(16, 32) },
    5 * MIB,
  ),
  own(
    "own, Ed25519, 4 candidates",
    { header: "x", digest: "ed25519", encoding: "base64", list },
    pem(ed.publicKey),
    { x: signatures(null, ed.privateKey) },
    MIB,
  ),
  own(
    "own, ECDSA, 4 candidates",
    { header: "x", digest: "ecdsa", encoding: "base64", list },
    pem(ec.publicKey),
    { x: signatures("sha256", ec.privateKey) },
    MIB,
  ),
  own(
    "own, RSA 4096, 4 candidates",
    { header: "x", digest: "rsa-sha256", encoding: "base64", list },
    pem(rsa.publicKey),
    { x: signatures("sha256", rsa.privateKey) },
    MIB,
  ),
  {
    ...own(
      "own, basic",
      { header: "x" },
      "user:password",
      { authorization: `Basic ${"A".repeat(8000)}` },
      5 * MIB,
    ),
    sender: defineSender({
      name: "own",
      signature: { basic: true },
      read: () => ({ id: null, type: "x" }),
    }),
  },
  {
    ...own("own, token", { header: "x" }, "a secret", { x: "A".repeat(8000) }, 5 * MIB),
    sender: defineSender({
      name: "own",
      signature: { header: "x", token: true },
      read: () => ({ id: null, type: "x" }),
    }),
  },
];

async function cpuMs(run: () => unknown): Promise<number> {
  const start = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

/** The least that each of the two took, in ten turns. */
async function inTurn(one: () => unknown, other: () => unknown): Promise<[number, number]> {
  const least: [number, number] = [Infinity, Infinity];
  for (let count = 0; count < 10; count++) {
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
  const [unitMs] = await inTurn(unit, unit);
  for (const { name, sender, secret, headers, body, url } of CASES) {
    const clock = createManualClock(NOW);
    const receiver = createReceiver({
      sender,
      secrets: secret,
      store: memoryStore(),
      onEvent: () => {},
      clock,
      logger: false,
    });
    await receiver.start();
    const send = () => receiver.handle({ method: "POST", headers, body, url });
    expect((await send())?.status, name).toBe(401);
    const [hmac, spent] = await inTurn(hmacOf(body), send);
    lines.push(
      `${name}: ${spent.toFixed(1)} ms, ${(body.length / 1024).toFixed(0)} KiB, one HMAC ${hmac.toFixed(1)} ms`,
    );
    expect(spent, lines.join("\n")).toBeLessThan(OF_ITS_BYTES * hmac + OF_5_MIB * unitMs);
    await receiver.close({ graceMs: 0 });
  }
  console.info(lines.join("\n"));
});

test("its measure can fail: sixteen hashes of the body are too many", async () => {
  const body = randomBytes(5 * MIB);
  const [hmac, spent] = await inTurn(hmacOf(body), () => {
    for (let count = 0; count < 16; count++) createHash("sha256").update(body).digest();
  });
  expect(spent).toBeGreaterThan((OF_ITS_BYTES + OF_5_MIB) * hmac);
});
