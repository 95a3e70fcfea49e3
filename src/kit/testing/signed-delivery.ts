import type { Sender } from "../senders/engine/sender.js";
import { signals } from "../senders/signals/signals.js";

/** How a delivery is signed. */
export interface SignedDeliveryOptions {
  /** As the sender shows it. */
  secret: string;
  /** Who signs, such as `stripe()`. @default the service */
  sender?: Sender<object> | undefined;
  /**
   * Headers that the sender reads, such as `x-github-event`. @default those of the sender's own
   * sample
   */
  headers?: Readonly<Record<string, string>> | undefined;
  /** When it is signed, in milliseconds as `Date.now()` gives them. @default now */
  now?: number;
}

/** Fits `fetch`, supertest and `receiver.handle`. */
export interface SignedDelivery {
  headers: Record<string, string>;
  /**
   * Send exactly these bytes, because parsing and serialising them again makes the signature
   * invalid.
   */
  body: Buffer;
}

/**
 * Signs an event, as its sender does. An object is serialised as JSON; a string or bytes are not
 * changed.
 *
 * @throws SignalboxError `secret_invalid`, `timestamp_invalid`
 * @example
 * const { headers, body } = signedDelivery(signalEvent(), { secret });
 * await request(app).post("/webhooks/signals").set(headers).send(body.toString());
 */
export function signedDelivery(
  event: object | string | Uint8Array,
  { secret, sender, now = Date.now(), headers = {} }: SignedDeliveryOptions,
): SignedDelivery {
  const isAsIs = typeof event === "string" || event instanceof Uint8Array;
  const body = Buffer.from(isAsIs ? event : JSON.stringify(event));
  const signed = (sender ?? signals).sign(body, { secret, now, headers });
  const contentType =
    signed["content-type"] === undefined ? { "Content-Type": "application/json" } : {};
  return { headers: { ...contentType, ...signed }, body };
}
