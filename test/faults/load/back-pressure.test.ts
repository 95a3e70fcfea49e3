import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { signalEvent, signedDelivery } from "../../../src/kit/testing/index.js";
import { openWire, rawRequest, type Wire } from "../../http/wire.js";
import { inboxFiles } from "../inbox-file.js";
import { eventThat, SECRET, send } from "../sender.js";
import {
  expectGrowth,
  figures,
  MIB,
  startPressedReceiver,
  type PressedReceiver,
  type Report,
} from "./pressed-receiver.js";

const BODY_BYTES = 256 * 1024;
const BODY = Buffer.alloc(BODY_BYTES, "x");
/** Well-formed: only with the body can it be refused. */
const FORGED = { "X-Service-Signature": `t=${Math.floor(Date.now() / 1000)},v1=${"0".repeat(64)}` };
/** The default of `maxQueued.bytes`. */
const BOUND = 32 * MIB;
/** What the process takes that is no body: code that gets hot, holes between pieces of memory. */
const NOISE = 64 * MIB;
/** No time runs out here. */
const PATIENT = { bodyTimeoutMs: 600_000, ackTimeoutMs: 600_000 };

function openMany(port: number, count: number): Promise<Wire[]> {
  return Promise.all(Array.from({ length: count }, () => openWire(port)));
}

/** A connection in the middle of a body with a forged signature. Every other one is chunked. */
interface Dribbler {
  /** Sends more of the body. */
  push(...pieces: Uint8Array[]): Promise<void>;
}

/** Each has begun its request, and sent nothing of the body. */
async function openDribblers(receiver: PressedReceiver, count: number): Promise<Dribbler[]> {
  const wires = await openMany(receiver.port, count);
  const dribblers = wires.map(async (wire, index) => {
    const isChunked = index % 2 === 1;
    const framing = isChunked
      ? { "Transfer-Encoding": "chunked" }
      : { "Content-Length": String(BODY_BYTES) };
    await wire.write(rawRequest({ headers: { ...FORGED, ...framing }, length: false }));
    return {
      push: (...pieces: Uint8Array[]) =>
        wire.write(Buffer.concat(isChunked ? pieces.flatMap(chunk) : pieces)),
    };
  });
  await receiver.until("all of them to begin", ({ counts }) => counts["request"] === count);
  return Promise.all(dribblers);
}

function chunk(piece: Uint8Array): Uint8Array[] {
  return [Buffer.from(`${piece.byteLength.toString(16)}\r\n`), piece, Buffer.from("\r\n")];
}

/**
 * Small deliveries, and a large one that comes in several pieces, from a sender that means well.
 */
async function expectHonestTaken({ port }: PressedReceiver): Promise<void> {
  const event = signalEvent({ id: `sig_${randomUUID()}`, data: { summary: "x".repeat(100_000) } });
  const request = rawRequest(signedDelivery(event, { secret: SECRET }));
  const [wire] = (await openMany(port, 1)) as [Wire];
  const statuses: number[] = [];
  for (let sent = 0; sent < request.byteLength; sent += 30_000) {
    await wire.write(request.subarray(sent, sent + 30_000));
    // Once this is answered, the piece before it was read.
    statuses.push((await send(port, eventThat("fine"))).status);
  }
  statuses.push((await wire.next()).status);
  wire.destroy();
  expect(statuses).toEqual(statuses.map(() => 200));
}

test("a thousand slow connections hold no more than the bound, however small their pieces, and keep no other out", async ({
  annotate,
}) => {
  const receiver = await startPressedReceiver({ db: inboxFiles().db, options: PATIENT });
  const empty = await receiver.report();
  const dribblers = await openDribblers(receiver, 1000);
  await Promise.all(dribblers.map(({ push }) => push(BODY.subarray(0, 50))));
  const before = await receiver.report();
  const crumbs = Array.from({ length: 100 }, () => BODY.subarray(0, 1));
  for (let round = 0; round < 10; round++) {
    await Promise.all(dribblers.map(({ push }) => push(...crumbs)));
    await expectHonestTaken(receiver);
  }
  const after = await receiver.report();
  await annotate(figures(empty, before, after));
  expectGrowth(empty, before, { heapUsed: 16 * MIB, arrayBuffers: 1 * MIB, rss: NOISE });
  // Half of them send 1,000 chunks of one byte each: about 200 MiB if all were kept.
  expectGrowth(before, after, {
    heapUsed: BOUND / 2,
    arrayBuffers: 4 * MIB,
    rss: BOUND + 2 * NOISE,
  });
  expect(after.counts["accepted"]).toBe(50);
  expect(after.counts["overloaded"]).toBeGreaterThan(300);
});

/** Over 32 connections that are kept alive. */
async function flood(
  port: number,
  headers: Record<string, string>,
  requests: number,
): Promise<Set<number>> {
  const wires = await openMany(port, 32);
  const request = rawRequest({ headers, body: BODY });
  const statuses = new Set<number>();
  let left = requests;
  await Promise.all(
    wires.map(async (wire) => {
      while (left-- > 0) {
        await wire.write(request);
        statuses.add((await wire.next()).status);
      }
      wire.destroy();
    }),
  );
  return statuses;
}

test.for([
  { what: "unsigned", headers: {}, code: "signature_missing", requests: 1500 },
  { what: "forged", headers: FORGED, code: "signature_mismatch", requests: 500 },
])("a flood of $what bodies of 256 KB leaves memory as it was", async (given, { annotate }) => {
  const { headers, code, requests } = given;
  const receiver = await startPressedReceiver({ options: PATIENT });
  await flood(receiver.port, headers, 400);
  const before = await receiver.report();
  expect(await flood(receiver.port, headers, requests)).toEqual(new Set([401]));
  const after = await receiver.report();
  await annotate(figures(before, after));
  expectGrowth(before, after, { heapUsed: 4 * MIB, arrayBuffers: 1 * MIB, rss: NOISE });
  expect(after.counts[code]).toBe(400 + requests);
});

test("while the store hangs no more waits than the bound, and the rest gets 503 at once", async ({
  annotate,
}) => {
  const receiver = await startPressedReceiver({ db: inboxFiles().db, options: PATIENT });
  const before = await receiver.report();
  await receiver.hang();
  const statuses: number[] = [];
  const sent = Array.from({ length: 300 }, async () => {
    const { status } = await send(receiver.port, {
      ...eventThat("fine"),
      padding: "x".repeat(200_000),
    });
    statuses.push(status);
  });
  const full = await receiver.until(
    "the refusals",
    ({ queued }) => queued.events + statuses.length === 300,
  );
  expect(new Set(statuses)).toEqual(new Set([503]));
  expect(full.counts["overloaded"]).toBe(300 - full.queued.events);
  expect(full.queued.bytes).toBeGreaterThan(BOUND - MIB);
  expect(full.queued.bytes).toBeLessThanOrEqual(BOUND);
  // What was parsed out of the bodies waits beside them.
  expectGrowth(before, full, {
    arrayBuffers: BOUND + 1 * MIB,
    heapUsed: BOUND + 8 * MIB,
    rss: 2 * BOUND + 2 * NOISE,
  });
  await receiver.goOn();
  await Promise.all(sent);
  expect(statuses.filter((status) => status === 200)).toHaveLength(full.queued.events);
  const isFree = (report: Report): boolean =>
    report.arrayBuffers - before.arrayBuffers < MIB && report.heapUsed - before.heapUsed < 8 * MIB;
  const after = await receiver.until("the memory of all that is done", isFree);
  await annotate(figures(before, full, after));
  expect(after.queued).toEqual({ events: 0, bytes: 0 });
});

test("connections that go away after a refusal leave nothing behind", async ({ annotate }) => {
  const receiver = await startPressedReceiver({ options: PATIENT });
  const refused = rawRequest({
    method: "PUT",
    headers: { "Content-Length": String(BODY_BYTES) },
    body: "x",
  });
  const comeAndGo = async (hundreds: number): Promise<Report> => {
    for (; hundreds > 0; hundreds--) {
      const wires = await openMany(receiver.port, 100);
      await Promise.all(wires.map((wire) => wire.write(refused)));
      for (const wire of wires) {
        expect((await wire.next()).status).toBe(405);
        wire.destroy();
      }
    }
    return receiver.until("the end of all connections", ({ connections }) => connections === 0);
  };
  const before = await comeAndGo(5);
  const after = await comeAndGo(30);
  await annotate(figures(before, after));
  expectGrowth(before, after, { heapUsed: 4 * MIB, arrayBuffers: 1 * MIB, rss: NOISE });
});
