import { SignalboxError } from "../../../base/errors.js";

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
