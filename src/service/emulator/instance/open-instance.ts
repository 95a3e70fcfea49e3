import { OptionError } from "../../../base/options/option-error.js";
import type { Scope, Tier } from "../../contract/access.js";
import { createAccess, keptKey, type Access, type KeptKey } from "../access/create-access.js";
import { accessControl } from "../control/access-control.js";
import { clockControl } from "../control/clock-control.js";
import { createControlGuard } from "../control/control-guard.js";
import type { ControlTable } from "../control/control-operation.js";
import { operationFaultsControl } from "../control/operation-faults-control.js";
import type { stateControl } from "../control/state-control.js";
import { type Database, readSetting, writeSetting } from "../database/database.js";
import { snapshotOf } from "../database/open-database.js";
import { createChangeStream } from "../http/change-stream.js";
import { createApp, type RequestListener } from "../http/create-app.js";
import {
  createInvestigations,
  investigationsControl,
} from "../investigations/create-investigations.js";
import { createMarket } from "../market/create-market.js";
import { createOperationFaults } from "../operations/operation-faults.js";
import { bindOperations } from "../operations/run-operation.js";
import { createShutdownGate, type ShutdownGate } from "../operations/shutdown-gate.js";
import { openStoredClock, type ClockResumption } from "../time/emulator-clock.js";
import { createScheduler } from "../time/scheduler.js";
import { deliveriesControl } from "../webhooks/control/deliveries-control.js";
import { webhooksControl } from "../webhooks/control/webhooks-control.js";
import { createWebhooks } from "../webhooks/create-webhooks.js";
import type { EmulatorCore } from "./core.js";
import type { ClockMove, ReportEvent } from "./events.js";
import { type EmulatorConfig, FACTORY } from "./options.js";

export interface InstanceParts {
  database: Database;
  config: EmulatorConfig;
  /** How a new database starts. An existing one must have the same seed, unless this has none. */
  origin: StartOrigin;
  resumption: ClockResumption;
  report: ReportEvent;
  /** The control operations that replace the instance itself. */
  stateControl: ReturnType<typeof stateControl>;
  /**
   * The time of the current instance, for the header of an answer: a reset may replace this
   * instance before it answers.
   */
  now: () => number;
}

/** The whole service over one database. */
export type Instance = ReturnType<typeof openInstance>;

export function openInstance(parts: InstanceParts) {
  const { database, config, report, origin: wanted } = parts;
  const { assumptions, random } = config;
  const clock = openStoredClock(database, config.clock, wanted.startAtMs, parts.resumption);
  const onFailure = (error: unknown): void =>
    report({ event: "failed", about: "a scheduled task failed", error });
  const onMoved = (move: ClockMove): void => report({ event: "clock_moved", ...move });
  const scheduler = createScheduler(clock, config.clock, onFailure);
  const core: EmulatorCore = { database, clock, scheduler, random, assumptions };

  const access = createAccess(core);
  const faults = createOperationFaults(core);
  storeOrigin(database, access, wanted);
  const origin = readOrigin(database, wanted.seed);

  const investigations = createInvestigations(core);
  const webhooks = createWebhooks(core, { ca: config.ca, machineNow: config.clock.now, report });
  scheduler.add(
    createMarket(core, origin.seed, (draft, publishedAt) =>
      webhooks.publish(draft, { publishedAt }),
    ),
  );

  const gate = createShutdownGate();
  const control = {
    ...gatedControl(
      {
        ...accessControl(access),
        ...clockControl(core, onMoved),
        ...operationFaultsControl(faults),
        ...investigationsControl(investigations),
        ...webhooksControl(core, webhooks, (accountId) => void access.accounts.read(accountId)),
        ...deliveriesControl(webhooks),
      },
      gate,
    ),
    ...parts.stateControl,
  };
  const bindings = bindOperations(core, investigations, webhooks);
  const { controlToken = null } = config;
  const controlGuard = createControlGuard(controlToken);
  const changes = createChangeStream(core);
  const listener: RequestListener = createApp({
    services: { access, bindings, faults, gate, report },
    control,
    controlGuard,
    // A browser cannot send the token when it opens a page. The page asks for the token and sends
    // it with each call.
    pageGuard: controlToken === null ? controlGuard : () => undefined,
    random,
    inboxPage: config.inboxPage,
    changes,
    now: parts.now,
  });

  let closing: Promise<void> | null = null;
  async function end(): Promise<void> {
    changes.close();
    // All are closed at the same time, because a running advance of the clock may end only when the
    // deliveries are aborted.
    await Promise.all([webhooks.close(), scheduler.close(), gate.close()]);
    try {
      clock.save();
    } finally {
      database.close();
    }
  }

  return {
    listener,
    control,
    origin,
    now: clock.now,
    endStreams: changes.close,
    snapshot: (): Promise<Buffer> =>
      gate.run(() => {
        clock.save();
        return snapshotOf(database);
      }),
    /**
     * Refuses new calls. Resolves when the running calls are done and the database is closed.
     * Idempotent.
     */
    close: (): Promise<void> => (closing ??= end()),
  };
}

/** Runs the operations through the gate, so that closing the gate waits for them. */
function gatedControl<Table extends ControlTable>(table: Table, gate: ShutdownGate): Table {
  const entries = Object.entries(table).map(([name, operation]) => {
    const run = operation.run as (input: unknown) => unknown;
    return [name, { ...operation, run: (input: unknown) => gate.run(() => run(input)) }];
  });
  // The operations now return promises, which callers of `ControlMethods` expect anyway.
  return Object.fromEntries(entries) as Table;
}

/** How a database was started. A reset starts it in the same way again. */
export interface InstanceOrigin {
  seed: number;
  /**
   * The start of the clock in the options, in milliseconds since 1970; null: it started at the
   * present.
   */
  startAtMs: number | null;
  accounts: readonly FirstAccount[];
}

/** How a new database starts. Without a seed it has the default one. */
export type StartOrigin = Omit<InstanceOrigin, "seed"> & { seed: number | null };

/** An account of a new database. The key itself is not stored. */
interface FirstAccount {
  name: string;
  tier: Tier;
  scopes: readonly Scope[];
  key: KeptKey;
}

/** Returns the accounts of the options as they are stored. */
export const firstAccounts = ({ accounts }: EmulatorConfig): FirstAccount[] =>
  accounts.map(({ key, ...account }) => ({ ...account, key: keptKey(key) }));

const DEFAULT_SEED = 1;

/** The name of the setting. */
const ORIGIN = { seed: "seed", startAt: "start_at_ms", accounts: "accounts" } as const;

/**
 * Stores how a new database starts, and creates its accounts. Does not change a database that was
 * started before.
 */
function storeOrigin(
  database: Database,
  { accounts, keys }: Access,
  { seed, startAtMs, accounts: first }: StartOrigin,
): void {
  if (readSetting(database, ORIGIN.seed) !== null) return;
  database.transaction(() => {
    writeSetting(database, ORIGIN.seed, String(seed ?? DEFAULT_SEED));
    if (startAtMs !== null) writeSetting(database, ORIGIN.startAt, String(startAtMs));
    writeSetting(database, ORIGIN.accounts, JSON.stringify(first));
    for (const { name, tier, key, scopes } of first) {
      keys.add(accounts.create({ name, tier }).account_id, scopes, key);
    }
  })();
}

/**
 * @param wantedSeed the seed of the options
 * @throws SignalboxError `option_invalid` when the database was made with another seed
 */
function readOrigin(database: Database, wantedSeed: number | null): InstanceOrigin {
  const seed = Number(readSetting(database, ORIGIN.seed));
  if (wantedSeed !== null && wantedSeed !== seed) {
    const problem =
      "the database was made with another seed; leave the option out, or use another file";
    throw new OptionError(FACTORY, "seed", problem);
  }
  const startAt = readSetting(database, ORIGIN.startAt);
  const accounts = JSON.parse(readSetting(database, ORIGIN.accounts) ?? "[]") as FirstAccount[];
  return { seed, startAtMs: startAt === null ? null : Number(startAt), accounts };
}
