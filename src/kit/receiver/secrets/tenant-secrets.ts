import { SignalboxError } from "../../../base/errors.js";
import type { Clock } from "../../../base/time/clock.js";
import { withDeadline } from "../../../base/time/timers.js";

type Secrets = readonly string[];
type Lookup = Secrets | Promise<Secrets>;

interface Remembered {
  secrets: Secrets;
  until: number;
  /** From then on a mismatch looks up again. */
  againAt: number;
}

const KNOWN_MS = 60_000;
/** For names without a secret, and for the look-ups after a mismatch. */
const SHORT_MS = 5000;
/** A look-up that takes longer has failed. */
const MOST_MS = 10_000;
const MOST_REMEMBERED = 10_000;
/** Look-ups of names that are not known. */
const MOST_AT_ONCE = 1000;

/**
 * Remembers the secrets of tenants. Anybody can make up names, and each costs a look-up: so names
 * without a secret have a memory of their own, and never push out a tenant.
 *
 * @returns a function. With `again` it asks although the secret is remembered, at most once in 5
 * seconds. It throws what `ask` throws, which is not remembered
 */
export function createTenantSecrets(ask: (tenant: string) => Lookup, clock: Clock) {
  const known = new Map<string, Remembered>();
  const unknown = new Map<string, Remembered>();
  const running = new Map<string, Promise<Secrets>>();

  function remember(name: string, secrets: Secrets, again: boolean): Secrets {
    // A part of an address would keep the whole of it in memory.
    const tenant = Buffer.from(name).toString();
    const now = clock.elapsed();
    const againAt = again ? now + SHORT_MS : (known.get(tenant)?.againAt ?? now);
    known.delete(tenant);
    const [memory, keptMs] = secrets.length > 0 ? [known, KNOWN_MS] : [unknown, SHORT_MS];
    memory.delete(tenant);
    memory.set(tenant, { secrets, until: now + keptMs, againAt });
    const [oldest = ""] = memory.keys();
    if (memory.size > MOST_REMEMBERED) memory.delete(oldest);
    return secrets;
  }

  return (tenant = "", again = false): Lookup => {
    const now = clock.elapsed();
    const entry = known.get(tenant) ?? unknown.get(tenant);
    const asked = running.get(tenant);
    if (entry !== undefined && now < (again ? entry.againAt : entry.until))
      return (again && asked) || entry.secrets;
    if (asked !== undefined) return asked;
    // What was known before is looked up in any case.
    if (running.size >= MOST_AT_ONCE && !known.has(tenant)) fail();
    const found = ask(tenant);
    if (!(found instanceof Promise)) return remember(tenant, found, again);
    const lookup = withDeadline(found, clock, MOST_MS, null)
      .finally(() => running.delete(tenant))
      .then((secrets) => remember(tenant, secrets ?? fail(), again));
    running.set(tenant, lookup);
    return lookup;
  };
}

function fail(): never {
  throw new SignalboxError(
    "secret_invalid",
    "Secrets of tenants are looked up too slowly.",
    "Keep them in memory, or make the look-up faster.",
  );
}
