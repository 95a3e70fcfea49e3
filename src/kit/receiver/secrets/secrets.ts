import { SignalboxError, ignore } from "../../../base/errors.js";
import type { Clock } from "../../../base/time/clock.js";
import { DEFAULT_SENDER } from "../../inbox/stored-events.js";
import { assertSecret, isUsableSecret, OTHER_HELP } from "../../senders/signature/sign.js";
import { createTenantSecrets } from "./tenant-secrets.js";

/**
 * The result of a lookup: one secret, several, or none yet (`undefined`, `[]`, or a text of only
 * white space).
 */
export type SecretLookup = string | readonly string[] | undefined;

/**
 * Where the receiver gets its signing secrets from. `secretFile(path)` makes one.
 *
 * While a source has no secret, a delivery waits up to `secretWaitMs` for one, then gets 503.
 */
export interface SecretSource {
  /**
   * Called for each delivery with a well-formed signature header, and every 20 ms while a delivery
   * waits for its secret. A source has no `start` method. If the vault is slow, return the cached
   * secrets from `lookUp` and start the refresh of the cache there. Return a promise only if you
   * must. When `lookUp` throws, the delivery gets 503 immediately.
   */
  lookUp(): SecretLookup | Promise<SecretLookup>;
  /**
   * Whether a new secret is about to be stored. If so, a delivery whose signature matches no known
   * secret waits for the new secret.
   *
   * @default never
   */
  expectsMore?(): boolean;
  /** Where the secrets are, such as "the file signals.secret". Logged when there is no secret. */
  readonly place?: string | undefined;
  /** Called when the receiver closes. */
  close?(): void | Promise<void>;
}

/**
 * One signing secret, several (rotation, or several registrations on one URL), or where to get
 * them: a {@link SecretSource} or a function. With the option `tenant` a function is told whose they
 * are, and its answer is remembered for a minute; an empty one means for 5 seconds that there is no
 * such tenant. Without that option `tenant` is empty.
 *
 * `undefined`, the value of an environment variable that is not set, is refused at construction
 * like an empty secret.
 */
export type SecretsOption =
  SecretLookup | ((of: { tenant: string }) => SecretLookup | Promise<SecretLookup>) | SecretSource;

const NO_TENANT = { tenant: "" };

interface SecretUser {
  name: string;
  secretProblem(secret: string): string | null;
}

/**
 * The secrets in one form, whatever form the user's option has.
 *
 * @param tenantsClock with the option `tenant` alone
 *
 * @throws SignalboxError `secret_invalid` when the secrets are given directly and are missing or
 * unusable
 */
export function createSecrets(option: SecretsOption, sender: SecretUser, tenantsClock?: Clock) {
  const source = sourceOf(option, (secret) => assertSecretOf(sender, secret));
  const isDefault = sender.name === DEFAULT_SENDER;
  const usable = (found: SecretLookup | null): readonly string[] => {
    const secrets = checked(found);
    if (!isDefault) secrets.forEach((secret) => assertSecretOf(sender, secret));
    return secrets;
  };
  const usableOf = (found: SecretLookup | Promise<SecretLookup>) => {
    // No `await` when the source answers immediately: it would delay each delivery by a turn of the
    // event loop.
    const isPromised = typeof found === "object" && found !== null && "then" in found;
    return isPromised ? Promise.resolve(found).then(usable) : usable(found);
  };
  const isByTenant = tenantsClock !== undefined && typeof option === "function";
  return {
    /** Whether each tenant has secrets of its own. */
    isByTenant,
    /**
     * The secrets that are known now; empty if the source has none yet, or if there is no such
     * tenant.
     *
     * @throws SignalboxError `secret_invalid`, and what the source throws
     */
    lookUp: isByTenant
      ? createTenantSecrets((tenant) => usableOf(option({ tenant })), tenantsClock)
      : () => usableOf(source.lookUp()),
    /** null for a source that never announces secrets. */
    expectsMore: source.expectsMore === undefined ? null : () => isTrue(source.expectsMore?.()),
    /** The error to log when no secret is known. */
    missing: () =>
      new SignalboxError(
        "secret_invalid",
        `There is no secret in ${source.place ?? "the secret source"}.`,
        isDefault
          ? "Register the webhook with `signalbox register`, or store the secret that the service showed."
          : "Store the secret that the sender shows.",
      ),
    close: async (): Promise<void> => source.close?.(),
  };
}

export type Secrets = ReturnType<typeof createSecrets>;

/** Whether two lists hold the same secrets in the same order. */
export function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a === b || (a.length === b.length && a.every((secret, index) => secret === b[index]));
}

/** @throws SignalboxError `secret_invalid`, without the secret in its message */
function assertSecretOf({ name, secretProblem }: SecretUser, secret: unknown): void {
  if (name === DEFAULT_SENDER) return assertSecret(secret);
  assertSecret(secret, OTHER_HELP);
  // PEM ends with a line feed. Any other secret got its blanks when it was copied, and would refuse
  // every delivery.
  const hasBlanks = secret.trim() !== secret && !secret.includes("-----BEGIN");
  const problem = hasBlanks ? "expected no blanks around it" : secretProblem(secret);
  if (problem === null) return;
  throw new SignalboxError(
    "secret_invalid",
    `A secret cannot be one of the sender "${name}": ${problem}.`,
    OTHER_HELP,
  );
}

function sourceOf(option: SecretsOption, assertUsable: (secret: unknown) => void): SecretSource {
  if (typeof option === "function") return { lookUp: () => option(NO_TENANT) };
  const { lookUp } = (option ?? {}) as Partial<SecretSource>;
  if (typeof lookUp === "function") return option as SecretSource;
  const secrets = Array.isArray(option) ? [...(option as readonly string[])] : [option as string];
  if (secrets.length === 0) assertUsable(undefined);
  secrets.forEach(assertUsable);
  return { lookUp: () => secrets };
}

/**
 * The type forbids an async `expectsMore`. If it is one nevertheless, its rejection must not end
 * the process.
 */
function isTrue(answer: unknown): boolean {
  if (answer instanceof Promise) answer.catch(ignore);
  return answer === true;
}

function checked(found: SecretLookup | null): readonly string[] {
  if (found === undefined || found === null) return [];
  if (typeof found === "string") return isUsableSecret(found) ? [found] : [];
  if (Array.isArray(found) && found.every(isUsableSecret)) return found;
  throw new SignalboxError(
    "secret_invalid",
    "The secret source returned a secret that is empty or not a string.",
    "Return the secrets that the service showed when the webhooks were registered.",
  );
}
