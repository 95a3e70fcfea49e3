import type { IncomingMessage, ServerResponse } from "node:http";
import { onTestFinished } from "vitest";
import type { KnownSignalType } from "../../../../../src/kit/senders/signals/signal-types.js";
import {
  createManualClock,
  type ManualClock,
} from "../../../../../src/kit/testing/manual-clock.js";
import type { ServiceLocale } from "../../../../../src/service/contract/shared-schemas.js";
import {
  openSqlite,
  type Database,
} from "../../../../../src/service/emulator/database/database.js";
import {
  assumptionsSchema,
  type Assumptions,
} from "../../../../../src/service/emulator/instance/assumption-options.js";
import { systemRandom } from "../../../../../src/service/emulator/instance/random-source.js";
import { MARKET_SCHEMA } from "../../../../../src/service/emulator/market/market-schema.js";
import type { SignalDraft } from "../../../../../src/service/emulator/market/signals/derive-signals.js";
import {
  createEmulatorClock,
  type EmulatorClock,
} from "../../../../../src/service/emulator/time/emulator-clock.js";
import {
  createScheduler,
  type Scheduler,
} from "../../../../../src/service/emulator/time/scheduler.js";
import {
  createWebhooks,
  type Webhooks,
  type WebhooksOptions,
} from "../../../../../src/service/emulator/webhooks/create-webhooks.js";
import { WEBHOOK_SCHEMA } from "../../../../../src/service/emulator/webhooks/webhook-schema.js";
import { listen, serveRecorder, type RecordedRequest } from "../../../../cli/serve-requests.js";

export const START = Date.UTC(2026, 10, 5, 12);
export const HOUR_MS = 3_600_000;
export const ACCOUNT = 1;

export interface WorldOptions extends WebhooksOptions {
  assumptions?: Partial<Assumptions>;
  /** One that was used before. */
  database?: Database;
  startMs?: number;
}

/** All that a test may want to look into. */
export interface WebhookWorld {
  database: Database;
  base: ManualClock;
  clock: EmulatorClock;
  scheduler: Scheduler;
  assumptions: Assumptions;
  webhooks: Webhooks;
}

/** A catalog with two products, whose first one account 1 follows. */
export function webhookDatabase(): Database {
  const database = openSqlite(":memory:");
  database.exec(MARKET_SCHEMA + WEBHOOK_SCHEMA);
  const facts = {
    sector_id: 3,
    pricing_model: "freemium",
    verification_status: "verified",
    staleness_status: "fresh",
    listed_at: 0,
    launched_month: 0,
    domain_registered_month: 0,
  };
  for (const [tool_id, slug] of [
    [7, "larkvoice"],
    [8, "mute"],
  ])
    database.put("product", { ...facts, tool_id, slug, name: slug, domain: `${slug}.example` });
  return database;
}

/**
 * The service's side of signals, by a clock that a test moves; plain HTTP to this machine is
 * allowed.
 */
export function openWebhooks({
  assumptions: changed,
  database,
  startMs = START,
  ...options
}: WorldOptions = {}): WebhookWorld {
  const own: Database = database ?? webhookDatabase();
  const base = createManualClock(startMs);
  const clock = createEmulatorClock(base);
  const scheduler = createScheduler(clock, base);
  const assumptions: Assumptions = {
    ...assumptionsSchema.parse({}),
    allowLoopbackHttp: true,
    ...changed,
  };
  const webhooks = createWebhooks(
    { database: own, clock, scheduler, random: systemRandom, assumptions },
    options,
  );
  onTestFinished(() => webhooks.close());
  if (database === undefined) webhooks.follows.follow(ACCOUNT, ["larkvoice"]);
  return { database: own, base, clock, scheduler, assumptions, webhooks };
}

export function draft(more: Partial<SignalDraft> = {}): SignalDraft {
  const text = { title: "Up", summary: "Visits rose.", evidence_summary: "Two months." };
  return {
    signal_type: "traffic_breakout",
    tool_id: 7,
    observed_at: START - HOUR_MS,
    period: { start: "2026-10-01", end: "2026-10-31" },
    change: {
      direction: "up",
      magnitude: 0.5,
      before: { value: 100, unit: "visits" },
      after: { value: 150, unit: "visits" },
    },
    text: {
      en: text,
      "zh-CN": { title: "上升", summary: "访问量上升。", evidence_summary: "两个月。" },
    },
    ...more,
  };
}

interface ServedEvent {
  id: string;
  type: string;
  data: { challenge?: string };
}

export const eventIn = (request: RecordedRequest): ServedEvent =>
  JSON.parse(request.body.toString()) as ServedEvent;

/** A server that answers verifications, and all else as told; it keeps what is no verification. */
export async function serveEndpoint(
  answer: (request: RecordedRequest, response: ServerResponse) => void = (_request, response) =>
    void response.end(),
): Promise<{ url: string; signals: RecordedRequest[]; requests: RecordedRequest[] }> {
  const signals: RecordedRequest[] = [];
  const { url, requests } = await serveRecorder((request, response) => {
    const { type, data } = eventIn(request);
    if (type === "webhook.verification") {
      response.end(JSON.stringify({ challenge: data.challenge }));
      return;
    }
    signals.push(request);
    answer(request, response);
  });
  return { url, signals, requests };
}

/** A registration whose verification was answered. */
export async function activeRegistration(
  { webhooks, scheduler }: WebhookWorld,
  url: string,
  {
    accountId = ACCOUNT,
    signal_types = ["traffic_breakout"],
    locale = "en",
  }: { signal_types?: KnownSignalType[]; locale?: ServiceLocale; accountId?: number } = {},
): Promise<ReturnType<Webhooks["register"]>> {
  const registration = webhooks.register(accountId, { url, signal_types, locale });
  await scheduler.idle();
  return {
    ...webhooks.registrations.read(registration.id),
    signing_secret: registration.signing_secret,
  };
}

/** A server that takes requests and never answers. */
export async function serveSilence(): Promise<{ url: string; requests: IncomingMessage[] }> {
  const requests: IncomingMessage[] = [];
  return { url: await listen((request) => void requests.push(request)), requests };
}
