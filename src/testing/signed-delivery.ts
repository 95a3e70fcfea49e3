import { SIGNATURE_HEADER } from "../signature/header.js";
import { signBody } from "../signature/sign.js";

/** How a delivery is signed. */
export interface SignedDeliveryOptions {
  /** The whole text is the key: no prefix is removed. */
  secret: string;
  /** When it is signed, in milliseconds as `Date.now()` gives them. @default now */
  now?: number;
}

/** Fits `fetch`, supertest and `receiver.handle`. */
export interface SignedDelivery {
  headers: Record<string, string>;
  /** Send exactly these bytes, because parsing and serialising them again makes the signature invalid. */
  body: Buffer;
}

/**
 * Signs an event, as the service does. An object is serialised as JSON; a string or bytes are not changed.
 *
 * @throws SignalboxError `secret_invalid`, `timestamp_invalid`
 * @example
 * const { headers, body } = signedDelivery(signalEvent(), { secret });
 * await request(app).post("/webhooks/signals").set(headers).send(body.toString());
 */
export function signedDelivery(
  event: object | string | Uint8Array,
  { secret, now = Date.now() }: SignedDeliveryOptions,
): SignedDelivery {
  const isAsIs = typeof event === "string" || event instanceof Uint8Array;
  const body = Buffer.from(isAsIs ? event : JSON.stringify(event));
  const timestamp = Math.floor(now / 1000);
  return {
    headers: { "Content-Type": "application/json", [SIGNATURE_HEADER]: signBody({ body, secret, timestamp }) },
    body,
  };
}
