import type { Clock, ClockTimer } from "../time/clock.js";
import type { Verification } from "../signature/verify.js";
import { isSame } from "./secret-file.js";
import type { Secrets } from "./secrets.js";

/** A verification, or why there is none. */
export type LateVerification = Verification | { ok: false; reason: "secret_unavailable" | "closing" };

/** A delivery that waits. */
export interface Wait {
  readonly verification: Promise<LateVerification>;
  /** Ends it: nothing of the delivery is kept or checked any more, and the promise stays as it is. Idempotent. */
  giveUp(): void;
}

/**
 * Deliveries whose secret is not known yet: the service posts its verification as soon as it has shown the secret, and
 * somebody has to store that first. All that wait share one look at the source every few milliseconds.
 */
export interface SecretWait {
  /**
   * For a delivery that none of the secrets signed. Waits when none is known at all, or when the source says that another
   * one is about to come.
   *
   * @param tried those it was checked against
   * @param verify checks it again
   * @throws what the source throws; so does a wait
   */
  verifyLater(tried: readonly string[], verify: (secrets: readonly string[]) => Verification): LateVerification | Wait;
  /** Ends all waiting. */
  close(): void;
}

interface SecretWaitConfig {
  secrets: Secrets;
  /** For each delivery, in all; with 0 nothing is waited for. */
  waitMs: number;
  clock: Clock;
}

/** A look costs a few microseconds, and a person's registration 20 ms more. */
export const LOOK_EVERY_MS = 20;

const MISMATCH = { ok: false, reason: "signature_mismatch" } as const;
const NO_SECRET = { ok: false, reason: "secret_unavailable" } as const;
const CLOSING = { ok: false, reason: "closing" } as const;

interface Waiting {
  tried: readonly string[];
  verify: (secrets: readonly string[]) => Verification;
  timeout: ClockTimer | null;
  end: (verification: LateVerification) => void;
  fail: (error: unknown) => void;
}

export function createSecretWait({ secrets: { lookUp, expectsMore }, waitMs, clock }: SecretWaitConfig): SecretWait {
  const waiting = new Set<Waiting>();
  let timer: ClockTimer | null = null;
  /** The look under way; null also when it took so long that another may begin. */
  let looking: object | null = null;
  let limit: ClockTimer | null = null;
  let isClosed = false;

  function wait(tried: Waiting["tried"], verify: Waiting["verify"]): LateVerification | Wait {
    if (isClosed) return CLOSING;
    if (waitMs === 0) return soFar(tried);
    const delivery: Waiting = { tried, verify, timeout: null, end: ignore, fail: ignore };
    const verification = new Promise<LateVerification>((resolve, reject) => {
      delivery.end = (late) => (leave(delivery), resolve(late));
      delivery.fail = (error) => (leave(delivery), reject(error));
    });
    delivery.timeout = clock.setTimeout(() => delivery.end(soFar(delivery.tried)), waitMs);
    waiting.add(delivery);
    arm();
    return { verification, giveUp: () => leave(delivery) };
  }

  function leave(delivery: Waiting): void {
    delivery.timeout?.cancel();
    waiting.delete(delivery);
    if (waiting.size === 0) stop();
  }

  function arm(): void {
    if (timer === null && looking === null && waiting.size > 0)
      timer = clock.setTimeout(() => void look(), LOOK_EVERY_MS);
  }

  function stop(): void {
    timer?.cancel();
    timer = null;
  }

  /** Never rejects. */
  async function look(): Promise<void> {
    timer = null;
    const own = {};
    looking = own;
    // Who comes while a slow source is asked may have come after what it will say.
    const deliveries = [...waiting];
    const each = (tell: (delivery: Waiting) => void): void =>
      deliveries.filter((delivery) => waiting.has(delivery)).forEach(tell);
    try {
      // In this order: who does not announce a secret any more has stored it.
      const isMoreComing = expectsMore?.() ?? false;
      const answer = lookUp();
      // A source that never answers would be asked no more, for whoever comes.
      if (answer instanceof Promise) limit = clock.setTimeout(() => end(own), waitMs);
      const found = await answer;
      each((delivery) => tryAgain(delivery, found, isMoreComing));
    } catch (error) {
      each(({ fail }) => fail(error));
    }
    end(own);
  }

  function end(ended: object): void {
    if (looking !== ended) return;
    limit?.cancel();
    looking = null;
    arm();
  }

  function tryAgain(delivery: Waiting, found: readonly string[], isMoreComing: boolean): void {
    const isWorthIt = isMoreComing || found.length === 0;
    // A digest for each at every look would be too much.
    if (isWorthIt && isSame(found, delivery.tried)) return;
    delivery.tried = found;
    if (found.length === 0) return;
    const verification = delivery.verify(found);
    if (!isWorthIt || !isMismatch(verification)) delivery.end(verification);
  }

  return {
    verifyLater(tried, verify) {
      if (tried.length === 0) return wait(tried, verify);
      if (expectsMore === null) return MISMATCH;
      const isMoreComing = expectsMore();
      // The secret may have been stored since it was asked for.
      const found = lookUp() as readonly string[];
      const verification = found.length === 0 || isSame(found, tried) ? MISMATCH : verify(found);
      if (!isMismatch(verification)) return verification;
      return isMoreComing || found.length === 0 ? wait(found, verify) : MISMATCH;
    },
    close() {
      isClosed = true;
      for (const delivery of waiting) delivery.end(CLOSING);
      limit?.cancel();
    },
  };
}

function isMismatch(verification: Verification): boolean {
  return !verification.ok && verification.reason === "signature_mismatch";
}

function soFar(tried: readonly string[]): LateVerification {
  return tried.length === 0 ? NO_SECRET : MISMATCH;
}

function ignore(): void {}
