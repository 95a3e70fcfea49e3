import { createHmac } from "node:crypto";
import { SignalboxError } from "../../../base/errors.js";

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

/** True for a text that is not only white space. */
export function isUsableSecret(secret: unknown): secret is string {
  return typeof secret === "string" && secret.trim() !== "";
}

/** @throws SignalboxError `secret_invalid`, without the secret in its message */
export function assertSecret(secret: unknown, help = HELP): asserts secret is string {
  if (isUsableSecret(secret)) return;
  const found =
    typeof secret === "string"
      ? secret === ""
        ? "an empty string"
        : "only white space"
      : typeof secret;
  throw new SignalboxError(
    "secret_invalid",
    `A signing secret must be a string with content; this one is ${found}.`,
    help,
  );
}

const HELP =
  "Pass the secret that the service showed when the webhook was registered (is SIGNALS_SECRET set?).";

/** The same for another sender. */
export const OTHER_HELP =
  "Pass the secret as the sender shows it (is its environment variable set?).";

/**
 * Computes the HMAC-SHA256, in lower-case hex, of the text of t, a dot and the body bytes (service
 * document, Events, rule 2). The key is the UTF-8 of the whole secret; it is not decoded, and no
 * prefix is removed.
 */
export function signatureDigest(secret: string, timestampText: string, body: Uint8Array): string {
  return createHmac("sha256", secret).update(`${timestampText}.`).update(body).digest("hex");
}
