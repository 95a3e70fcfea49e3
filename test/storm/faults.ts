import { setTimeout as delay } from "node:timers/promises";
import { Pool } from "pg";
import type { SmallDisk } from "../faults/disk/small-disk.js";
import type { OwnPostgres } from "../own-postgres.js";
import { hasServer } from "../prerequisites.js";
import { nowMs } from "./history.js";
import { urlOf, type Machine } from "./machine.js";

export interface Scene {
  machines: readonly Machine[];
  server: OwnPostgres;
  /** Where the server's data is. */
  disk: SmallDisk | null;
  random: () => number;
}

interface Fault {
  /** The shortest and the longest time that it lasts, in milliseconds. */
  lasts: readonly [number, number];
  /** What cannot have two faults at once. */
  on: "machine" | "server" | "rows" | "snapshot";
  /** @param draw from 0 to below 1 */
  happen(scene: Scene, machine: Machine, ms: number, draw: number): Promise<void>;
}

export const FAULTS = {
  kill: {
    lasts: [0, 4000],
    on: "machine",
    happen: (_, machine, ms, draw) => machine.end(draw < 0.75 ? "SIGKILL" : "SIGTERM", ms),
  },
  // A process counts as dead after 5 seconds.
  stop: {
    lasts: [4000, 10_000],
    on: "machine",
    happen: (_, machine, ms) =>
      machine.silence(
        ms,
        () => machine.signal("SIGSTOP"),
        () => machine.signal("SIGCONT"),
      ),
  },
  cut: {
    lasts: [0, 0],
    on: "machine",
    happen: async ({ server }, { proxy }) => proxy.switchTo(server.port),
  },
  halfOpen: {
    lasts: [3000, 14_000],
    on: "machine",
    happen: ({ server }, machine, ms) =>
      machine.silence(
        ms,
        () => machine.proxy.freeze(),
        () => machine.proxy.switchTo(server.port),
      ),
  },
  backends: {
    lasts: [0, 0],
    on: "server",
    happen: ({ server }) =>
      withClient(server, async ({ query }) => {
        await query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'signalbox' AND random() < 0.5",
        );
      }),
  },
  restart: { lasts: [0, 0], on: "server", happen: ({ server }) => restart(server) },
  fullDisk: {
    lasts: [2000, 8000],
    on: "server",
    async happen({ server, disk }, _, ms) {
      const free = disk?.fill();
      await delay(ms);
      free?.();
      // Without room for its log, the server ends.
      if (!(await hasServer(server.port))) await restart(server);
    },
  },
  // A receiver gives up a commit after 10 seconds.
  lockedRows: {
    lasts: [1000, 15_000],
    on: "rows",
    happen: ({ server }, _, ms) =>
      withClient(server, async ({ query }) => {
        await query("BEGIN");
        await query(
          "SELECT FROM signalbox.inbox WHERE state IN ('leased', 'ready') LIMIT 20 FOR UPDATE SKIP LOCKED",
        );
        await query(
          "SELECT FROM signalbox.inbox_owner ORDER BY random() LIMIT 1 FOR UPDATE SKIP LOCKED",
        );
        await delay(ms);
        await query("COMMIT");
      }),
  },
  // Vacuum may remove nothing that this transaction could see.
  snapshot: {
    lasts: [10_000, 60_000],
    on: "snapshot",
    happen: ({ server }, _, ms) =>
      withClient(server, async ({ query }) => {
        await query("BEGIN ISOLATION LEVEL REPEATABLE READ");
        await query("SELECT count(*) FROM signalbox.inbox");
        await delay(ms);
        await query("COMMIT");
      }),
  },
} satisfies Record<string, Fault>;
export type FaultName = keyof typeof FAULTS;

async function restart(server: OwnPostgres): Promise<void> {
  await server.stop("SIGQUIT");
  await server.start();
}

/** The server may end while the client works: then the fault is over sooner. */
async function withClient(
  { port }: OwnPostgres,
  work: (client: { query: (text: string) => Promise<unknown> }) => Promise<void>,
): Promise<void> {
  const pool = new Pool({ connectionString: urlOf(port) });
  pool.on("error", () => undefined);
  const client = await pool.connect().catch(() => null);
  client?.on("error", () => undefined);
  if (client !== null) await work({ query: (text) => client.query(text) }).catch(() => undefined);
  client?.release(true);
  await pool.end();
}

/**
 * Draws faults until the time is over, and resolves when the last has ended. The draws depend on
 * the seed alone; a fault is left out if its place still has another.
 *
 * @returns how often each happened
 */
export async function letFaultsHappen(
  scene: Scene,
  names: readonly FaultName[],
  untilMs: number,
  everyMs: number,
): Promise<Map<FaultName, number>> {
  const { machines, random } = scene;
  const counts = new Map(names.map((name) => [name, 0]));
  const busy = new Set<unknown>();
  const lasting = new Set<Promise<void>>();
  for (;;) {
    const [pause, which, where, howLong, draw] = Array.from({ length: 5 }, random) as [
      number,
      number,
      number,
      number,
      number,
    ];
    await delay(2 * pause * everyMs);
    if (nowMs() > untilMs) break;
    const name = names[Math.floor(which * names.length)] as FaultName;
    const machine = machines[Math.floor(where * machines.length)] as Machine;
    const { lasts, on, happen } = FAULTS[name];
    const place = on === "machine" ? machine : on;
    if (busy.has(place)) continue;
    busy.add(place);
    counts.set(name, (counts.get(name) ?? 0) + 1);
    const fault = happen(scene, machine, lasts[0] + howLong * (lasts[1] - lasts[0]), draw).finally(
      () => {
        busy.delete(place);
        lasting.delete(fault);
      },
    );
    lasting.add(fault);
  }
  await Promise.all(lasting);
  return counts;
}
