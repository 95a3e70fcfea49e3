import { createHmac } from "node:crypto";
import type { SignalEvent } from "signalbox";
import { signalEvent } from "signalbox/testing";
import { PATH, SECRET } from "../endpoint.js";

/**
 * Odd, so that multiplying by it modulo 2^32 maps no two numbers to one (Knuth's multiplicative
 * hash).
 */
const SCATTER = 2_654_435_761;

/**
 * The id of the n-th event, n below 2^32. No id repeats, and the ids are in no order, as those of
 * the service. So an index over them is written at random places and not only at its end.
 */
export function scatteredEventIds(n: number): { signalId: number; productId: number } {
  const signalId = Math.imul(n, SCATTER) >>> 0;
  return { signalId, productId: 1000 + (signalId % 90_000) };
}

/** Where the generator's events begin; those that a file was filled with beforehand come before. */
export const FIRST_SENT = 1_000_000_000;

/** The n-th event, about as long as those of the fixtures. */
export function makeEvent(n: number, data: Partial<SignalEvent["data"]> = {}): SignalEvent {
  const { signalId, productId } = scatteredEventIds(n);
  const slug = `product-${productId}`;
  return signalEvent({
    data: {
      signal_id: signalId,
      product: { id: productId, slug },
      summary: `Monthly visits of ${slug} rose from 1,000 to 1,500, its strongest month in the observed year.`,
      url: `https://catalog.example/en/tools/${slug}`,
      ...data,
    },
  });
}

/**
 * A whole request as bytes, so that sending it is one write. It carries the signature headers of
 * all servers alike: all of them get the same bytes.
 *
 * @param bodyBytes the body is about as long, or as long as usual
 */
export function makeSignedRequest(n: number, timestamp: number, bodyBytes: number): Buffer {
  const event = makeEvent(n);
  const usual = JSON.stringify(event);
  const body = JSON.stringify({
    ...event,
    padding: "x".repeat(Math.max(0, bodyBytes - usual.length)),
  });
  const stamped = createHmac("sha256", SECRET).update(`${timestamp}.`).update(body).digest("hex");
  const plain = createHmac("sha256", SECRET).update(body).digest("hex");
  const head = [
    `POST ${PATH} HTTP/1.1`,
    "Host: 127.0.0.1",
    "User-Agent: signalbox-bench",
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Service-Signature: t=${timestamp},v1=${stamped}`,
    `Stripe-Signature: t=${timestamp},v1=${stamped}`,
    "X-GitHub-Event: push",
    `X-GitHub-Delivery: ${event.id}`,
    `X-Hub-Signature-256: sha256=${plain}`,
  ];
  return Buffer.from(`${head.join("\r\n")}\r\n\r\n${body}`);
}
