import type { CrashedEvent } from "../../inbox/store.js";
import type { Clock } from "../../time/clock.js";
import { OWNER_GONE } from "./commit-functions.js";
import { ignore, type Run } from "./connection.js";
import { DEAD_AFTER_MS, MOST_SWEPT } from "./owner-functions.js";
import { codeOf } from "./store-error.js";

/** How often an idle process shows that it is alive. Others take it for dead after five of these. */
const BEAT_EVERY_MS = 1000;
/** So one heartbeat without an answer, as of a connection that is half open, does not end the leases: the next one is in time. */
const BEAT_TIMEOUT_MS = DEAD_AFTER_MS / 2;
/** How often the whole table is searched for leases without an owner. */
const ORPHANS_EVERY_MS = 5 * 60_000;

/** If the database does not answer, others take the owner for dead after a while. */
const UNREGISTER_TIMEOUT_MS = 2000;

/** What `health().medium` is with `postgresStore`, as of the last heartbeat. */
export type PostgresDiagnostics = {
  /**
   * What an acknowledgement stands for. `standby`: a synchronous standby has the event too, so a failover to it loses nothing (with
   * `remote_write` only if its machine does not crash too).
   * `primary`: only this server has it, so a failover may lose it.
   */
  durability: "primary" | "standby";
  /** The `synchronous_commit` of the inbox's transactions. */
  synchronousCommit: string;
  /** How many standbys are synchronous now; null if the role may not see it. With `standby`, commits wait while it is 0. */
  synchronousStandbys: number | null;
  /** Whether the server is a standby, which accepts nothing. */
  inRecovery: boolean;
};

/** The result of a heartbeat. */
export interface Beat {
  isKnown: boolean;
  oldestReadyAgeMs: number | null;
  medium: PostgresDiagnostics;
}

/** This process as the owner of its leases of one endpoint: a row with a heartbeat. */
export interface Owner {
  /**
   * Calls back with the owner's id. If another process took this one for dead, for example because its machine slept, the
   * owner is gone with its leases: then it is registered again under a new id.
   */
  with<Result>(work: (id: number) => Promise<Result>): Promise<Result>;
  /** The result of the last heartbeat; null if it failed. */
  lastBeat(): Beat | null;
  /** Events that became dead and were not reported yet. */
  takeDead(): CrashedEvent[];
  /** As the store's `leasedSince`. */
  leasedSince(): number;
  close(): Promise<void>;
}

/** @param name the schema, quoted */
export async function registerOwner(run: Run, name: string, endpoint: string, clock: Clock): Promise<Owner> {
  /** Since then no other process can have taken this one for dead. */
  let aliveSince = -Infinity;
  /** Before then none does, even without another heartbeat. The machine's clock counts too, since a machine may sleep. */
  let aliveUntil = { elapsed: -Infinity, now: -Infinity };
  let id = await register();
  let registering: Promise<void> | null = null;
  let beating: Promise<void> | null = null;
  let lastBeat: Beat | null = null;
  let isClosed = false;
  let dead: CrashedEvent[] = [];

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
    // A standby keeps no heartbeat: its primary may take this process for dead.
    if (lastBeat?.isKnown === true && !lastBeat.medium.inRecovery) {
      if (!isAlive()) aliveSince = clock.elapsed();
      aliveUntil = until;
    }
    if (lastBeat?.isKnown === false && !isClosed) await registerAgain(beatenId);
  }

  async function freeOrphans(): Promise<void> {
    const [range] = await run<{ first: number | null; last: number }>(
      `SELECT min(seq) AS first, max(seq) AS last FROM ${name}.inbox`,
    );
    for (let from = range?.first ?? null; from !== null && from <= (range?.last ?? 0); from += MOST_SWEPT) {
      if (isClosed) return;
      const query = `SELECT ${name}.free_orphans($1, $2, $3) AS dead`;
      const [row] = await run<{ dead: CrashedEvent[] | null }>(query, [endpoint, from, from + MOST_SWEPT]);
      dead.push(...(row?.dead ?? []));
    }
  }

  await beat();
  // What fails here is tried again soon, and commits report that the database fails.
  const heartbeat = setInterval(() => {
    beating ??= beat()
      .catch(ignore)
      .finally(() => (beating = null));
  }, BEAT_EVERY_MS).unref();
  let searching = freeOrphans().catch(ignore);
  const search = setInterval(() => {
    searching = searching.then(freeOrphans).catch(ignore);
  }, ORPHANS_EVERY_MS).unref();

  return {
    async with(work) {
      const usedId = id;
      try {
        return await work(usedId);
      } catch (error) {
        if (codeOf(error) !== OWNER_GONE) throw error;
        await registerAgain(usedId);
        return work(id);
      }
    },
    lastBeat: () => lastBeat,
    takeDead() {
      const taken = dead;
      dead = [];
      return taken;
    },
    leasedSince: () => (isAlive() ? aliveSince : Infinity),
    async close() {
      isClosed = true;
      clearInterval(heartbeat);
      clearInterval(search);
      await run(`SELECT ${name}.unregister_owner($1)`, [id], UNREGISTER_TIMEOUT_MS).catch(ignore);
    },
  };
}
