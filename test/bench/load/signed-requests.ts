import { createHmac } from "node:crypto";
import { PATH, SECRET } from "../servers/endpoint.js";
import { FIRST_SENT } from "./event-ids.js";
import { makeEvent } from "./make-event.js";

export interface RequestSpec {
  count: number;
  /** Differs from the last one where the same requests must not be used again. */
  serial?: number;
}

/** Ids are never used twice in one run of the generator. */
let nextEvent = FIRST_SENT;

/**
 * Whole requests as bytes, so that sending one is one write. Each carries the signature headers of
 * all servers alike: all of them get the same bytes.
 */
export function makeSignedRequests({ count }: RequestSpec): Buffer[] {
  const timestamp = Math.floor(Date.now() / 1000);
  return Array.from({ length: count }, () => makeSignedRequest(timestamp));
}

function makeSignedRequest(timestamp: number): Buffer {
  const event = makeEvent(nextEvent++);
  const body = JSON.stringify(event);
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
