import { SignalboxError } from "../../base/errors.js";
import type { Clock } from "../../base/time/clock.js";

type Secrets = readonly string[];

interface KnownTenant {
  secrets: Secrets;
  until: number;
  /** A mismatch looks up again from then on. */
  againAt: number;
}

const KNOWN_MS = 60_000;
const UNKNOWN_MS = 5000;
const AGAIN_MS = 5000;
const MOST_REMEMBERED = 10_000;
/** Look-ups of tenants that are not known, at once. */
const MOST_AT_ONCE = 1000;
/** A look-up that has no answer after this time is not waited for by later deliveries. */
const STUCK_MS = 10_000;

const NONE: Secrets = [];

/**
 * Remembers the secrets of tenants. Anybody can make up names, and each costs a look-up: so names
 * without a secret have a memory of their own, and never take the place of a tenant.
 *
 * @param ask looks up the secrets of a tenant; empty if there is none
 */
export function createTenantSecrets(
  ask: (tenant: string) => Secrets | Promise<Secrets>,
  clock: Clock,
) {
  /** The one that was used last is the last. */
  const known = new Map<string, KnownTenant>();
  /** Until when it counts as unknown. */
  const unknown = new Map<string, number>();
  const running = new Map<string, { since: number; secrets: Promise<Secrets> }>();

  function remember(name: string, secrets: Secrets): Secrets {
    // A part of an address would keep the whole of it in memory.
    const tenant = Buffer.from(name).toString();
    const now = clock.elapsed();
    const againAt = known.get(tenant)?.againAt ?? now;
    known.delete(tenant);
    if (secrets.length === 0) put(unknown, tenant, now + UNKNOWN_MS);
    else put(known, tenant, { secrets, until: now + KNOWN_MS, againAt });
    return secrets;
  }

  function lookUpNow(tenant: string): Secrets | Promise<Secrets> {
    const since = clock.elapsed();
    const asked = running.get(tenant);
    if (asked !== undefined && since - asked.since < STUCK_MS) return asked.secrets;
    // The first is the oldest. A known tenant is looked up in any case.
    const [oldest] = running;
    if (running.size >= MOST_AT_ONCE && !known.has(tenant)) {
      if (oldest === undefined || since - oldest[1].since < STUCK_MS) throw tooMany();
      running.delete(oldest[0]);
    }
    const found = ask(tenant);
    if (!(found instanceof Promise)) return remember(tenant, found);
    const lookup = {
      since,
      secrets: found
        .then((secrets) => remember(tenant, secrets))
        .finally(() => {
          if (running.get(tenant) === lookup) running.delete(tenant);
        }),
    };
    running.delete(tenant);
    running.set(tenant, lookup);
    return lookup.secrets;
  }

  return {
    /** @throws what `ask` throws, which is not remembered; `secret_invalid` for too many at once */
    lookUp(tenant: string): Secrets | Promise<Secrets> {
      const now = clock.elapsed();
      const entry = known.get(tenant);
      if (entry !== undefined && now < entry.until) {
        known.delete(tenant);
        known.set(tenant, entry);
        return entry.secrets;
      }
      return now < (unknown.get(tenant) ?? now) ? NONE : lookUpNow(tenant);
    },
    /**
     * For a signature that no known secret makes: the sender may have a new one. Asks at most once
     * in 5 seconds.
     */
    lookUpAgain(tenant: string): Secrets | Promise<Secrets> {
      const now = clock.elapsed();
      const entry = known.get(tenant);
      if (entry === undefined) return NONE;
      if (now < entry.againAt) return running.get(tenant)?.secrets ?? entry.secrets;
      entry.againAt = now + AGAIN_MS;
      return lookUpNow(tenant);
    },
  };
}

/** Adds it as the last, in the place of the first if there are too many. */
function put<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= MOST_REMEMBERED) return;
  for (const oldest of map.keys()) return void map.delete(oldest);
}

function tooMany(): SignalboxError {
  const message = `The secrets of ${MOST_AT_ONCE} tenants are being looked up.`;
  return new SignalboxError("secret_invalid", message, "Let `secrets` answer sooner.");
}
