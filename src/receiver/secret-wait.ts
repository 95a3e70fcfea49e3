import type { Verification } from "../signature/verify.js";
import type { Clock, ClockTimer } from "../time/clock.js";
import { isSame, type Secrets } from "./secrets.js";

export type LateVerification = Verification | { ok: false; reason: "secret_unavailable" | "closing" };

interface SecretWaitConfig {
  secrets: Secrets;
  /** The longest wait of a delivery; with 0 no delivery waits. */
  waitMs: number;
  clock: Clock;
}

/** How often waiting deliveries look up the secrets. A lookup takes a few microseconds, and a user does not notice 20 ms. */
export const LOOKUP_EVERY_MS = 20;

const MISMATCH = { ok: false, reason: "signature_mismatch" } as const;
const NO_SECRET = { ok: false, reason: "secret_unavailable" } as const;
const CLOSING = { ok: false, reason: "closing" } as const;

interface Found {
  secrets: readonly string[];
  isMoreComing: boolean;
}

/**
 * Lets deliveries wait for a secret that is not known yet: the service posts its verification right after it shows the
 * secret, before the user can store it. All waiting deliveries share one lookup every {@link LOOKUP_EVERY_MS}.
 */
export function createSecretWait({ secrets: source, waitMs, clock }: SecretWaitConfig) {
  const { lookUp, expectsMore } = source;
  /** The functions that end the current waits. */
  const waits = new Set<() => void>();
  let nextLookup: Promise<Found> | null = null;
  let timer: ClockTimer | null = null;
  let isClosed = false;

  async function lookUpNow(): Promise<Found> {
    // Asked before the lookup. In the other order, a secret that is stored between the two calls would be missed.
    const isMoreComing = expectsMore?.() ?? false;
    return { isMoreComing, secrets: await lookUp() };
  }

  function lookUpSoon(): Promise<Found> {
    nextLookup ??= new Promise((resolve) => {
      timer = clock.setTimeout(() => {
        // A delivery that arrives while the source answers needs a later lookup, because its secret may be newer.
        nextLookup = null;
        resolve(lookUpNow());
      }, LOOKUP_EVERY_MS);
    });
    return nextLookup;
  }

  function stopLookups(): void {
    timer?.cancel();
    nextLookup = null;
  }

  async function verifyUntil(
    ended: Promise<null>,
    alreadyTried: readonly string[],
    verify: (secrets: readonly string[]) => Verification,
  ): Promise<LateVerification> {
    if (isClosed) return CLOSING;
    if (waitMs === 0) return unverified(alreadyTried);
    let tried = alreadyTried;
    // Look up immediately if other secrets are known: the missing one may have been stored just after the first lookup.
    let lookup = tried.length === 0 ? lookUpSoon() : lookUpNow();
    for (;;) {
      const found = await Promise.race([lookup, ended]);
      if (isClosed) return CLOSING;
      if (found === null) return unverified(tried);

      const { secrets, isMoreComing } = found;
      // Unchanged secrets are not tried again, since each try computes a digest.
      if (!isSame(secrets, tried)) {
        tried = secrets;
        const verification = secrets.length === 0 ? MISMATCH : verify(secrets);
        if (verification.ok || verification.reason !== "signature_mismatch") return verification;
      }
      if (secrets.length > 0 && !isMoreComing) return MISMATCH;
      lookup = lookUpSoon();
    }
  }

  return {
    /**
     * Whether a delivery should wait when its signature matches none of these secrets: no secret is known, or the source
     * announces new secrets. With secrets in the option itself no delivery waits; otherwise forgeries could fill the
     * memory with held bodies.
     */
    canHelp: (tried: readonly string[]) => tried.length === 0 || expectsMore !== null,
    /**
     * Begins the wait of one delivery.
     *
     * @param tried the secrets that did not sign the delivery
     * @param verify checks the delivery against other secrets
     * @returns `verification` rejects with what the source throws; `giveUp` ends the wait now, and is idempotent
     */
    begin(tried: readonly string[], verify: (secrets: readonly string[]) => Verification) {
      let end: () => void = ignore;
      const ended = new Promise<null>((resolve) => {
        const timeout = clock.setTimeout(() => end(), waitMs);
        end = () => {
          timeout.cancel();
          waits.delete(end);
          if (waits.size === 0) stopLookups();
          resolve(null);
        };
      });
      waits.add(end);
      return { verification: verifyUntil(ended, tried, verify).finally(end), giveUp: end };
    },
    /** Ends all waits. */
    close(): void {
      isClosed = true;
      for (const end of waits) end();
    },
  };
}

function unverified(tried: readonly string[]): LateVerification {
  return tried.length === 0 ? NO_SECRET : MISMATCH;
}

function ignore(): void {}
