import { SignalboxError } from "../errors.js";
import { assertSecret, isUsableSecret } from "../signature/secret.js";
import { SECRET_FILE, type SecretFile } from "./secret-file.js";

/**
 * The signing secrets: one, several (rotation, or several registrations on one URL), or where to get them:
 * `secretFile(path)`, or a function of yours. A function is called for every delivery, so cache in it what is slow to
 * get.
 *
 * `undefined`, as an environment variable that is not set, is refused like an empty secret at construction. From a
 * function it means that no secret is known yet, as `[]` and blank text do: the delivery waits up to `secretWaitMs` for
 * one, and gets 503 if none comes. A function that throws is not asked again for that delivery.
 */
export type SecretSource =
  | string
  | readonly string[]
  | undefined
  | (() => string | readonly string[] | undefined | Promise<string | readonly string[] | undefined>);

/** What a source gives: {@link SecretSource} without the function. */
type SecretLookup = string | readonly string[] | undefined;

/** The secrets as the receiver asks for them. */
export interface Secrets {
  /**
   * Those that are known now; none if the source has none yet.
   *
   * @throws SignalboxError `secret_invalid`, and whatever the source throws
   */
  lookUp(): readonly string[] | Promise<readonly string[]>;
  /** Whether somebody said that another one is about to come. Constant for all sources but a file, which look up at once. */
  expectsMore: (() => boolean) | null;
  /** What to say when none is known. */
  missing(): SignalboxError;
}

const NONE: readonly string[] = [];

/** @throws SignalboxError `secret_invalid` for secrets, or the lack of them, that no later lookup could mend */
export function createSecrets(source: SecretSource): Secrets {
  if (typeof source !== "function") {
    const secrets =
      typeof source === "string" ? [source] : Array.isArray(source) ? [...(source as string[])] : [source];
    if (secrets.length === 0) assertSecret(undefined);
    secrets.forEach(assertSecret);
    return { lookUp: () => secrets as string[], expectsMore: null, missing };
  }
  const file = SECRET_FILE in source ? (source as SecretFile)[SECRET_FILE] : null;
  return {
    lookUp() {
      const found = source();
      // No `await` for a source that answers at once: it would cost every delivery a turn.
      return isThenable(found) ? Promise.resolve(found).then(checked) : checked(found);
    },
    expectsMore: file?.expectsMore ?? null,
    missing: () => (file === null ? missing() : missingIn(file.path)),
  };
}

function isThenable(value: unknown): value is PromiseLike<SecretLookup> {
  return typeof value === "object" && value !== null && "then" in value;
}

function checked(found: SecretLookup | null): readonly string[] {
  if (found === undefined || found === null) return NONE;
  if (typeof found === "string") return isUsableSecret(found) ? [found] : NONE;
  if (Array.isArray(found) && found.every(isUsableSecret)) return found;
  throw new SignalboxError(
    "secret_invalid",
    "The secret source gave a secret that is empty or no string.",
    "Return the secrets that the service showed when the webhooks were registered.",
  );
}

function missing(): SignalboxError {
  return new SignalboxError(
    "secret_invalid",
    "The secret source gave no secret.",
    "Return the secrets that the service showed when the webhooks were registered.",
  );
}

function missingIn(path: string): SignalboxError {
  return new SignalboxError(
    "secret_invalid",
    `There is no secret in ${path}.`,
    "Register the webhook with `signalbox register`, or write the secret that the service showed into this file.",
  );
}
