import { SignalboxError } from "../errors.js";

/** True for a text that is not only white space. */
export function isUsableSecret(secret: unknown): secret is string {
  return typeof secret === "string" && secret.trim() !== "";
}

/** Whether it has no white space around it, such as the line end of a file, with which it would match nothing. A key in PEM may. */
export function isBare(secret: string): boolean {
  return secret === secret.trim() || secret.startsWith("-----BEGIN");
}

/** @throws SignalboxError `secret_invalid`, without the secret in its message */
export function assertSecret(secret: unknown, help = HELP): asserts secret is string {
  const isText = typeof secret === "string";
  if (isText && secret !== "" && isBare(secret)) return;
  const found = !isText ? typeof secret : secret === "" ? "an empty string" : WHITE[Number(secret.trim() !== "")];
  throw new SignalboxError(
    "secret_invalid",
    `A signing secret must be a string with content; this one is ${found}.`,
    help,
  );
}

const WHITE = ["only white space", "one with white space at its beginning or end: use secret.trim()"];

const HELP = "Pass the secret that the service showed when the webhook was registered (is SIGNALS_SECRET set?).";

/** The same for another sender. */
export const OTHER_HELP = "Pass the secret as the sender shows it (is its environment variable set?).";
