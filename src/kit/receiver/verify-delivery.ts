import { ignore } from "../../base/errors.js";
import type { ClockTimer } from "../../base/time/clock.js";
import type { Signature } from "../senders/signature/header.js";
import { verifyParsedSignature } from "../senders/signature/verify.js";
import type { HeldBodies } from "./collect-body.js";
import type { ReceiverConfig } from "./options.js";
import type { Refusal } from "./rejection.js";
import { isSame } from "./secrets/secrets.js";

type VerifierConfig = Pick<
  ReceiverConfig,
  "secrets" | "clock" | "toleranceSeconds" | "secretWaitMs"
>;

/**
 * What of a delivery is verified. `body` is dropped if it is evicted while the delivery waits for a
 * secret.
 */
export interface SignedDelivery {
  signature: Signature;
  body: Uint8Array;
  /** Empty without the option `tenant`. */
  tenant: string;
  /** The secret that signed it, once it is verified. */
  secret: string;
  /**
   * When it arrived, in milliseconds since 1970. The age of the signature is measured then, so that
   * a wait does not make it stale.
   */
  receivedAt: number;
}

/** Null for a delivery that is authentic and fresh. */
type Verdict = Refusal | null;

/**
 * How often waiting deliveries look up the secrets. A lookup takes a few microseconds, and a user
 * does not notice 20 ms.
 */
export const LOOKUP_EVERY_MS = 20;

const MISMATCH: Refusal = { code: "signature_mismatch" };
const CLOSING: Refusal = { code: "closing" };

/**
 * Checks signatures against the secrets of the receiver, and lets deliveries wait for a secret that
 * is not known yet: the service posts its verification right after it shows the secret, before the
 * user can store it. All waiting deliveries share one lookup every {@link LOOKUP_EVERY_MS}.
 */
export function createVerifier(bodies: HeldBodies, config: VerifierConfig) {
  const { secrets, clock, toleranceSeconds, secretWaitMs } = config;
  /** The functions that end the current waits. */
  const waits = new Set<() => void>();
  let nextLookup: ReturnType<typeof lookUpNow> | null = null;
  let timer: ClockTimer | null = null;
  let isClosed = false;

  function verifyWith(delivery: SignedDelivery, known: readonly string[]): Verdict {
    const { signature, body, receivedAt } = delivery;
    const verification = verifyParsedSignature(signature, {
      body,
      secrets: known,
      toleranceSeconds,
      now: receivedAt,
    });
    if (!verification.ok) return { code: verification.reason };
    delivery.secret = known[verification.secretIndex] as string;
    return null;
  }

  /** The sender has a function of its own. Each secret is tried, at once. */
  async function verifyByFunction(
    delivery: SignedDelivery,
    verify: NonNullable<Signature["verify"]>,
    again: boolean,
  ): Promise<Verdict> {
    const { body, receivedAt, tenant } = delivery;
    const known = await secrets.lookUp(tenant, again);
    if (known.length === 0) return unverified(known);
    const results = await Promise.all(known.map((secret) => verify(body, secret, receivedAt)));
    const secret = known[results.indexOf(true)];
    if (secret === undefined) return MISMATCH;
    delivery.secret = secret;
    return null;
  }

  function verifyOrWait(
    delivery: SignedDelivery,
    known: readonly string[],
  ): Verdict | Promise<Verdict> {
    const verdict = verifyWith(delivery, known);
    if (verdict?.code !== "signature_mismatch") return verdict;
    // With secrets in the option itself no delivery waits, nor one of a tenant; otherwise forgeries
    // could fill the memory with held bodies.
    if (secrets.isByTenant || (known.length > 0 && secrets.expectsMore === null))
      return unverified(known);
    if (isClosed) return CLOSING;
    return secretWaitMs === 0 ? unverified(known) : wait(delivery, known);
  }

  function unverified(tried: readonly string[]): Refusal {
    if (tried.length > 0) return MISMATCH;
    if (secrets.isByTenant) return { code: "tenant_unknown" };
    return { code: "secret_unavailable", cause: secrets.missing() };
  }

  function wait(delivery: SignedDelivery, tried: readonly string[]): Promise<Verdict> {
    let end: () => void = ignore;
    const ended = new Promise<null>((resolve) => {
      const timeout = clock.setTimeout(() => end(), secretWaitMs);
      end = () => {
        timeout.cancel();
        waits.delete(end);
        resolve(null);
        if (waits.size > 0) return;
        timer?.cancel();
        nextLookup = null;
      };
    });
    waits.add(end);
    return whileHeld(delivery, verifyUntil(ended, delivery, tried).finally(end), end);
  }

  async function verifyUntil(
    ended: Promise<null>,
    delivery: SignedDelivery,
    alreadyTried: readonly string[],
  ): Promise<Verdict> {
    let tried = alreadyTried;
    // Look up immediately if other secrets are known: the missing one may have been stored just
    // after the first lookup.
    let lookup = tried.length === 0 ? lookUpSoon() : lookUpNow();
    for (;;) {
      const found = await Promise.race([lookup, ended]);
      if (isClosed) return CLOSING;
      if (found === null) return unverified(tried);

      // Unchanged secrets are not tried again, since each try computes a digest.
      if (!isSame(found.known, tried)) {
        tried = found.known;
        const verdict = verifyWith(delivery, tried);
        if (verdict?.code !== "signature_mismatch") return verdict;
      }
      if (tried.length > 0 && !found.isMoreComing) return MISMATCH;
      lookup = lookUpSoon();
    }
  }

  async function lookUpNow() {
    // Asked before the lookup. In the other order, a secret that is stored between the two calls
    // would be missed.
    const isMoreComing = secrets.expectsMore?.() ?? false;
    return { isMoreComing, known: await secrets.lookUp() };
  }

  function lookUpSoon(): ReturnType<typeof lookUpNow> {
    nextLookup ??= new Promise((resolve) => {
      timer = clock.setTimeout(() => {
        // A delivery that arrives while the source answers needs a later lookup, because its secret
        // may be newer.
        nextLookup = null;
        resolve(lookUpNow());
      }, LOOKUP_EVERY_MS);
    });
    return nextLookup;
  }

  /**
   * Holds the delivery's body until the value is known. Resolves with `overloaded` if the body is
   * evicted before.
   */
  function whileHeld<Value>(
    delivery: SignedDelivery,
    value: Promise<Value>,
    onEvict = ignore,
  ): Promise<Value | Refusal> {
    return new Promise((resolve, fail) => {
      const evict = (): void => {
        // The value may stay pending, and its promise keeps the delivery in memory, so the bytes
        // are released here.
        delivery.body = new Uint8Array();
        onEvict();
        resolve({ code: "overloaded" });
      };
      if (!bodies.hold(delivery, delivery.body.byteLength, evict)) evict();
      value.finally(() => bodies.release(delivery)).then(resolve, fail);
    });
  }

  return {
    /**
     * Returns a promise only when it must wait, because a promise would slow down each delivery.
     */
    verify(delivery: SignedDelivery, again = false): Verdict | Promise<Verdict> {
      try {
        const { verify } = delivery.signature;
        // Held until the function ends, also after the deadline of the delivery: until then it has
        // the bytes.
        if (verify !== undefined)
          return whileHeld(delivery, verifyByFunction(delivery, verify, again)).catch(unavailable);
        const known = secrets.lookUp(delivery.tenant, again);
        const verdict =
          known instanceof Promise
            ? whileHeld(delivery, known).then((found) =>
                "code" in found ? found : verifyOrWait(delivery, found),
              )
            : verifyOrWait(delivery, known);
        return verdict instanceof Promise ? verdict.catch(unavailable) : verdict;
      } catch (cause) {
        return unavailable(cause);
      }
    },
    /** Ends the waits of deliveries for their secret. */
    endWaits(): void {
      isClosed = true;
      for (const end of waits) end();
    },
  };
}

function unavailable(cause: unknown): Refusal {
  return { code: "secret_unavailable", cause };
}
