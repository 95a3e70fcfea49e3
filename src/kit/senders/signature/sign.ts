import { SignalboxError } from "../../../base/errors.js";
import { signatureDigest } from "./digest.js";
import { assertSecret } from "./secret.js";

/** The arguments of `signBody`. */
export interface SignBodyInput {
  /** The exact bytes that will be sent; a string is sent as UTF-8. */
  body: Uint8Array | string;
  /** The whole text is the key: it is not decoded, and no prefix is removed. */
  secret: string;
  /** Unix time in whole seconds. @default now */
  timestamp?: number;
}

/**
 * Makes the value of the `X-Service-Signature` header for these bytes: `t=<unix seconds>,v1=<hex>`
 * (service document, Events, rules 1 and 2).
 *
 * @throws SignalboxError `secret_invalid`, `timestamp_invalid`, `option_invalid` for a body that is
 * neither text nor bytes
 * @example
 * const header = signBody({ body: '{"id":"evt_1"}', secret: "whsec_test" });
 */
export function signBody(input: SignBodyInput): string {
  const { body, secret, timestamp } = (input ?? {}) as Partial<SignBodyInput>;
  assertSecret(secret);
  if (typeof body !== "string" && !ArrayBuffer.isView(body)) {
    const help = "Pass the exact text or bytes that will be sent, such as JSON.stringify(event).";
    throw new SignalboxError(
      "option_invalid",
      `The body of signBody is not a text and not bytes: ${typeof body}.`,
      help,
    );
  }
  const t = timestamp ?? Math.floor(Date.now() / 1000);
  if (!Number.isInteger(t) || t < 0 || t > 999_999_999_999) {
    throw new SignalboxError(
      "timestamp_invalid",
      `A signature's timestamp must be whole seconds of 1 to 12 digits, not ${String(t)}.`,
      "Divide milliseconds by 1000 and round down.",
    );
  }
  const text = String(t);
  const bytes = typeof body === "string" ? Buffer.from(body, "utf8") : body;
  return `t=${text},v1=${signatureDigest(secret, text, bytes)}`;
}
