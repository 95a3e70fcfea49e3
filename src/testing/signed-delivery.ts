import { SignalboxError } from "../errors.js";
import { SIGNATURE_HEADER } from "../signature/header.js";
import { signBody } from "../signature/sign.js";

/** How a delivery is signed. */
export interface SignedDeliveryOptions {
  /** The key: the whole text. */
  secret: string;
  /** When it is signed: milliseconds as `Date.now()` gives them, or Unix seconds. @default now */
  now?: number;
}

/** What to send: fits `fetch`, supertest and `receiver.handle`. */
export interface SignedDelivery {
  headers: Record<string, string>;
  /** Send exactly these bytes: parsing and writing them again breaks the signature. */
  body: Buffer;
}

/** Milliseconds since 1970 have had more digits than this since 1973, seconds will until 5138. */
const FIRST_MILLISECONDS = 1e11;

/**
 * A delivery as the service sends it. A string or bytes go out as they are.
 *
 * @throws SignalboxError `secret_invalid`, `timestamp_invalid`, `option_invalid`
 * @example
 * const { headers, body } = signedDelivery(signalEvent(), { secret });
 * await request(app).post("/webhooks/signals").set(headers).send(body.toString());
 */
export function signedDelivery(event: object | string | Uint8Array, signing: SignedDeliveryOptions): SignedDelivery {
  assertArguments(event, signing);
  const { secret, now = Date.now() } = signing;
  const isAsIs = typeof event === "string" || event instanceof Uint8Array;
  const body = Buffer.from(isAsIs ? event : JSON.stringify(event));
  const timestamp = Math.floor(now >= FIRST_MILLISECONDS ? now / 1000 : now);
  return {
    headers: { "Content-Type": "application/json", [SIGNATURE_HEADER]: signBody({ body, secret, timestamp }) },
    body,
  };
}

/** Of a JavaScript caller, mostly. */
function assertArguments(event: unknown, signing: unknown): void {
  const isBody = (typeof event === "object" && event !== null) || typeof event === "string";
  if (!isBody) {
    const help = "Give it an event, such as signalEvent(), or the text or bytes of a body.";
    throw new SignalboxError(
      "option_invalid",
      `A delivery cannot be made of ${event === null ? "null" : typeof event}.`,
      help,
    );
  }
  if (typeof signing !== "object" || signing === null) {
    throw new SignalboxError("option_invalid", "signedDelivery was not told how to sign.", "Give it { secret }.");
  }
}
