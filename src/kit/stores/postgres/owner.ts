import { codeOf, ignore } from "../../../base/errors.js";
import type { Clock } from "../../../base/time/clock.js";
import { MINUTE_MS } from "../../../base/time/units.js";
import type { OldestReady } from "../../inbox/stored-events.js";
import { OWNER_GONE } from "./commit-functions.js";
import type { KeptRun, Run } from "./connection.js";
import { DEAD_AFTER_MS, MOST_SWEPT } from "./owner-functions.js";

/** How often an idle process shows that it is alive; much shorter than `DEAD_AFTER_MS`. */
const BEAT_EVERY_MS = 1000;
/**
 * So one heartbeat without an answer, as of a connection that is half open, does not end the
 * leases: the next one is in time.
 */
const BEAT_TIMEOUT_MS = DEAD_AFTER_MS / 2;
/** If the database does not answer, others count the owner as dead after a while. */
const UNREGISTER_TIMEOUT_MS = 2000;
const ORPHANS_EVERY_MS = 5 * MINUTE_MS;

/** What `health().medium` is with `postgresStore`, as of the last heartbeat. */
export type PostgresDiagnostics = {
  /**
   * What an acknowledgement stands for. `standby`: a synchronous standby has the event too, so a
   * failover to it loses nothing (with `remote_write` only if its machine does not crash too).
   * `primary`: only this server has it, so a failover may lose it.
   */
  durability: "primary" | "standby";
  /** The `synchronous_commit` of the inbox's transactions. */
  synchronousCommit: string;
  /**
   * How many standbys are synchronous now; null if the role may not see it. With `standby`, commits
   * wait while it is 0.
   */
  synchronousStandbys: number | null;
  /** Whether the server is a standby, which accepts nothing. */
  inRecovery: boolean;
};

interface Beat extends OldestReady {
  isKnown: boolean;
  medium: PostgresDiagnostics;
}

/**
 * Registers this process as the owner of its leases of one endpoint: a row with a heartbeat.
 *
 * @param kept runs the heartbeats, which must not wait for other work
 * @param slowRun runs what may take long
 * @param name the schema, quoted
 */
export async function registerOwner(
  kept: KeptRun,
  slowRun: Run,
  name: string,
  endpoint: string,
  clock: Clock,
) {
  const { run } = kept;
  /**
   * When this owner was last new, or unsure whether it was alive. Leases since then are not lost.
   */
  let aliveSince = -Infinity;
  /**
   * Until this time the heartbeats so far keep the leases. By both clocks: `elapsed` may stand
   * still while a machine sleeps.
   */
  let aliveUntil = { elapsed: -Infinity, now: -Infinity };
  let id = await register();
  let registering: Promise<void> | null = null;
  let beating: Promise<void> | null = null;
  let lastBeat: Beat | null = null;
  let isClosed = false;

  async function register(): Promise<number> {
    const until = deadline();
    const [row] = await run<{ id: number }>(`SELECT ${name}.register_owner($1) AS id`, [endpoint]);
    aliveSince = clock.elapsed();
    aliveUntil = until;
    return (row as { id: number }).id;
  }

  /** For a heartbeat that is sent now. */
  function deadline(): typeof aliveUntil {
    return { elapsed: clock.elapsed() + DEAD_AFTER_MS, now: clock.now() + DEAD_AFTER_MS };
  }

  function isAlive(): boolean {
    return clock.elapsed() < aliveUntil.elapsed && clock.now() < aliveUntil.now;
  }

  async function registerAgain(goneId: number): Promise<void> {
    if (goneId !== id) return;
    registering ??= register()
      .then((newId) => void (id = newId))
      .finally(() => (registering = null));
    await registering;
  }

  async function beat(): Promise<void> {
    const beatenId = id;
    const until = deadline();
    const query = `SELECT ${name}.beat($1, $2)`;
    lastBeat = await run<{ beat: Beat }>(query, [endpoint, beatenId], BEAT_TIMEOUT_MS).then(
      ([row]) => row?.beat ?? null,
      () => null,
    );
    // A standby keeps no heartbeat: its primary may count this process as dead.
    if (lastBeat?.isKnown === true && !lastBeat.medium.inRecovery) {
      if (!isAlive()) aliveSince = clock.elapsed();
      aliveUntil = until;
    }
    if (lastBeat?.isKnown === false && !isClosed) await registerAgain(beatenId);
  }

  /**
   * There should be none. If rows of owners are deleted by hand, their events would stay leased for
   * good.
   */
  async function freeOrphans(): Promise<void> {
    const [row] = await slowRun<{ first: number; last: number }>(
      `SELECT coalesce(min(seq), 0) AS first, coalesce(max(seq), -1) AS last FROM ${name}.inbox`,
    );
    const { first = 0, last = -1 } = row ?? {};
    for (let from = first; from <= last; from += MOST_SWEPT) {
      if (isClosed) return;
      await slowRun(`SELECT ${name}.free_orphans($1, $2, $3)`, [endpoint, from, from + MOST_SWEPT]);
    }
  }

  await beat();
  let searching = freeOrphans().catch(ignore);
  const search = setInterval(() => {
    searching = searching.then(freeOrphans).catch(ignore);
  }, ORPHANS_EVERY_MS).unref();
  // What fails here is tried again soon, and commits report that the database fails.
  const heartbeat = setInterval(() => {
    beating ??= beat()
      .catch(ignore)
      .finally(() => (beating = null));
  }, BEAT_EVERY_MS).unref();

  return {
    /**
     * Calls back with the owner's id. If another process counted this one as dead, for example
     * because its machine slept, the owner is gone with its leases: then it is registered again
     * under a new id.
     */
    async with<Result>(work: (id: number) => Promise<Result>): Promise<Result> {
      const usedId = id;
      try {
        return await work(usedId);
      } catch (error) {
        if (codeOf(error) !== OWNER_GONE) throw error;
        await registerAgain(usedId);
        return work(id);
      }
    },
    /** The result of the last heartbeat; null if it failed. */
    lastBeat: () => lastBeat,
    /** As the store's `leasedSince`. */
    leasedSince: (): number => (isAlive() ? aliveSince : Infinity),
    async close(): Promise<void> {
      isClosed = true;
      clearInterval(heartbeat);
      clearInterval(search);
      await run(`SELECT ${name}.unregister_owner($1)`, [id], UNREGISTER_TIMEOUT_MS).catch(ignore);
      kept.release();
    },
  };
}

export type Owner = Awaited<ReturnType<typeof registerOwner>>;
