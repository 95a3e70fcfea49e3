import { SignalboxError } from "../errors.js";
import { assertSecret, isUsableSecret } from "../signature/secret.js";

/**
 * The signing secrets: one, several (rotation, or several registrations on one URL), or where to get them. A
 * function is called for every delivery, so cache in it what is slow to get.
 *
 * `undefined`, as an environment variable that is not set, is refused like an empty secret: at construction, or with
 * 503 where a function gives it.
 */
export type SecretSource =
  | string
  | readonly string[]
  | undefined
  | (() => string | readonly string[] | undefined | Promise<string | readonly string[] | undefined>);

/** What a source gives: {@link SecretSource} without the function. */
type SecretLookup = string | readonly string[] | undefined;

export type LookUpSecrets = () => readonly string[] | Promise<readonly string[]>;

/**
 * @returns a lookup that throws or rejects when there is no usable secret
 * @throws SignalboxError `secret_invalid`
 */
export function createSecretLookup(source: SecretSource): LookUpSecrets {
  if (typeof source !== "function") {
    const secrets =
      typeof source === "string" ? [source] : Array.isArray(source) ? [...(source as string[])] : [source];
    if (secrets.length === 0) assertSecret(undefined);
    secrets.forEach(assertSecret);
    return () => secrets as string[];
  }
  return () => {
    const found = source();
    // No `await` for a source that answers at once: it would cost every delivery a turn.
    return isThenable(found) ? Promise.resolve(found).then(checked) : checked(found);
  };
}

function isThenable(value: unknown): value is PromiseLike<SecretLookup> {
  return typeof value === "object" && value !== null && "then" in value;
}

function checked(found: SecretLookup): readonly string[] {
  const secrets = typeof found === "string" ? [found] : found;
  if (Array.isArray(secrets) && secrets.length > 0 && secrets.every(isUsableSecret)) return secrets;
  throw new SignalboxError(
    "secret_invalid",
    "The secret source gave no secret, or one that is empty or no string.",
    "Return the secrets that the service showed when the webhooks were registered.",
  );
}
