import type { Database } from "../database/database.js";
import { createAccess } from "../access/create-access.js";
import { createMarket } from "../market/create-market.js";
import { createControlGuard } from "../control/control-guard.js";
import { accessControl } from "../control/access-control.js";
import { clockControl, type ClockMove } from "../control/clock-control.js";
import type { ControlTable } from "../control/control-operation.js";
import { gatedControl } from "../control/gated-control.js";
import { createOperationFaults } from "../operations/operation-faults.js";
import { operationFaultsControl } from "../control/operation-faults-control.js";
import { snapshotOf } from "../database/open-database.js";
import type { EmulatorCore } from "./core.js";
import type { ReportEvent } from "./events.js";
import type { EmulatorConfig } from "./options.js";
import { bindOperations } from "../operations/bind-operations.js";
import { createApp, type RequestListener } from "../http/create-app.js";
import { createGate } from "../operations/shutdown-gate.js";
import { createInvestigations } from "../investigations/create-investigations.js";
import { investigationsControl } from "../investigations/investigations-control.js";
import { DEFAULT_SEED, readOrigin, seedWorld, type WorldOrigin } from "./instance-origin.js";
import { createScheduler } from "../time/scheduler.js";
import { deliveriesControl } from "../webhooks/control/deliveries-control.js";
import { webhooksControl } from "../webhooks/control/webhooks-control.js";
import { createOpenSendingSpan } from "../webhooks/deliveries/sending-span.js";
import { createWebhooks } from "../webhooks/create-webhooks.js";
import { openStoredClock, type ClockResumption } from "../time/stored-clock.js";

/** What a database is opened with. */
export interface WorldParts {
  database: Database;
  config: EmulatorConfig;
  /** Of the data of a new database, and what one that goes on must have. */
  seed: number | undefined;
  /** Where the clock of a new database begins, and the least for one that goes on; null: now. */
  startAtMs: number | null;
  /** Of a new database. */
  accounts: WorldOrigin["accounts"];
  resumption: ClockResumption;
  report: ReportEvent;
  /** The control operations that replace the world itself. */
  hostControl: ControlTable;
  /** The time of the world that there is when an answer is sent: a reset ends the one that was asked. Null: there is none. */
  hostNow: () => number | null;
}

/** The whole service over one database. Another database is another world. */
export type World = ReturnType<typeof openWorld>;

export function openWorld({ database, config, report, hostControl, hostNow, ...beginning }: WorldParts) {
  const { seed, startAtMs, accounts, resumption } = beginning;
  const { assumptions, random } = config;
  const clock = openStoredClock(database, config.clock, { startAtMs, resumption });
  const onFailure = (error: unknown): void => report({ event: "failed", about: "work that was due failed", error });
  const onMoved = (move: ClockMove): void => report({ event: "clock_moved", ...move });
  const scheduler = createScheduler(clock, config.clock, onFailure);
  const core: EmulatorCore = { database, clock, scheduler, random, assumptions };

  const access = createAccess(core);
  const faults = createOperationFaults(core);
  seedWorld(database, access, { seed: seed ?? DEFAULT_SEED, startAtMs, accounts });
  const origin = readOrigin(database, seed ?? null);

  const market = createMarket(core, { seed: origin.seed });
  const investigations = createInvestigations(core);
  const webhooks = createWebhooks(core, { ca: config.ca, machineNow: config.clock.now, report });
  market.onSignals((draft, publishedAt) => void webhooks.publish(draft, { publishedAt }));
  scheduler.add(market.work);

  const gate = createGate();
  const control = gatedControl(
    {
      ...accessControl(access),
      ...clockControl(core, createOpenSendingSpan(core), onMoved),
      ...operationFaultsControl(faults),
      ...investigationsControl(investigations),
      ...webhooksControl(core, webhooks, (accountId) => void access.accounts.read(accountId)),
      ...deliveriesControl(webhooks),
    },
    gate,
  );
  const listener: RequestListener = createApp({
    services: { access, assumptions, faults, gate, report },
    bindings: bindOperations({ database, assumptions, investigations, webhooks }),
    control: { ...control, ...hostControl },
    controlGuard: createControlGuard(config.controlToken ?? null),
    random,
    now: () => hostNow() ?? clock.now(),
  });

  return {
    listener,
    control,
    origin,
    now: clock.now,
    snapshot(): Buffer {
      clock.save();
      return snapshotOf(database);
    },
    /** Lets no call in any more, and resolves when what runs is done and the database is closed. */
    async close(): Promise<void> {
      // At once, so that an advance of the clock that waits for slow endpoints does not hold it up.
      await Promise.all([webhooks.close(), scheduler.close(), gate.close()]);
      try {
        clock.save();
      } finally {
        database.close();
      }
    },
  };
}
