import type { AssumptionOptions } from "../../src/emulator/instance/assumption-options.js";
import type { Assumptions } from "../../src/emulator/instance/assumptions.js";
import { serveEndpoint } from "../unit/emulator/webhooks/webhook-world.js";
import { refusal, type RunningEmulator, type Told } from "./start-emulator.js";

/** An emulator of a row, with an account of each kind. */
export interface World extends Pick<RunningEmulator, "emulator" | "ask" | "account"> {
  key: string;
  developerKey: string;
}

/** What an assumption changes, as its text says it, seen from outside. */
export interface AssumptionRow {
  name: keyof Assumptions;
  /** What it is switched to. */
  to: Assumptions[keyof Assumptions];
  look: (world: World) => Promise<unknown>;
  byDefault: unknown;
  switched: unknown;
  /** What the look needs in either case. */
  also?: AssumptionOptions;
}

const DEMAND = "/research/search-demand";
const RANKINGS = "/research/rankings";
const TASKS = "/research/promotion-investigations";
const NO_TASK = `${TASKS}/task_00000000-0000-4000-8000-000000000000`;
const uuid = (count: number): string => `3f0c9a52-5a44-4c8e-9d6f-7b1f2a9c000${count}`;
const ACCEPTED = { status: 202, code: undefined };
const LOOPBACK = { allowLoopbackHttp: true };
/** Nobody listens there. */
const NOWHERE = "http://127.0.0.1:9/";

interface Row {
  [name: string]: unknown;
  slug: string;
}

const get = ({ ask, key }: World, path: string): Promise<Told> => ask(path, { key });
const statusOf = async (asked: Promise<Told>): Promise<number> => (await asked).status;

async function rows(world: World, path: string): Promise<Row[]> {
  return (await get(world, path)).body["items"] as Row[];
}

async function anySlug(world: World): Promise<string> {
  return (await rows(world, `${RANKINGS}?limit=1`))[0]?.slug ?? "";
}

async function start(world: World, key: string, slug?: string, idempotencyKey = uuid(1)): Promise<Told> {
  const body = { slug: slug ?? (await anySlug(world)), idempotency_key: idempotencyKey, confirm_usage: true };
  return world.ask(TASKS, { key, body });
}

/** Status and stage of a task so many seconds after its start. */
async function taskAfter(world: World, seconds: number): Promise<string> {
  const { body } = await start(world, world.key);
  await world.emulator.control.advance({ seconds });
  const { status, stage } = (await get(world, `${TASKS}/${String(body["task_id"])}`)).body;
  return `${String(status)} ${String(stage)}`;
}

async function register(world: World, url: string): Promise<Told> {
  return world.ask("/alerts/webhooks", { key: world.key, body: { url, signal_types: ["new_model"] } });
}

/** A registration whose endpoint answers so, and a way to publish a signal to it. */
async function subscribed(world: World, answer?: Parameters<typeof serveEndpoint>[0]) {
  const { control } = world.emulator;
  const endpoint = await serveEndpoint(answer);
  const { body } = await register(world, endpoint.url);
  const slug = await anySlug(world);
  const [account] = (await control.listAccounts()).items;
  await control.follow({ account_id: account?.account_id ?? 0, slugs: [slug] });
  await control.settle();
  return {
    ...endpoint,
    control,
    registrationId: String(body["id"]),
    publish: () => control.publishSignal({ signal_type: "new_model", slug }),
  };
}

/** How often a signal was sent so many seconds after its first attempt. */
async function attemptsAfter(world: World, seconds: number, retryAfter?: string): Promise<number> {
  const { control, signals, publish } = await subscribed(world, (_request, response) => {
    if (retryAfter !== undefined) response.setHeader("Retry-After", retryAfter);
    response.writeHead(503).end();
  });
  await publish();
  await control.settle();
  await control.advance({ seconds });
  return signals.length;
}

async function mostAtOnce(world: World): Promise<boolean> {
  let inside = 0;
  let most = 0;
  const { control, publish } = await subscribed(world, (_request, response) => {
    most = Math.max(most, ++inside);
    setTimeout(() => {
      inside--;
      response.end();
    }, 100);
  });
  await Promise.all([publish(), publish(), publish()]);
  await control.settle();
  return most > 1;
}

export const ASSUMPTION_ROWS: readonly AssumptionRow[] = [
  {
    name: "deliveryTimeoutMs",
    to: 50,
    also: LOOPBACK,
    async look(world) {
      const { control, registrationId, publish } = await subscribed(
        world,
        (_request, response) => void setTimeout(() => response.end(), 400),
      );
      await publish();
      await control.settle();
      return (await control.readRegistration({ registration_id: registrationId })).failure_count;
    },
    byDefault: 0,
    switched: 1,
  },
  {
    name: "unknownNames",
    to: "empty",
    look: async (world) => [
      await statusOf(get(world, `${RANKINGS}?category=no-such`)),
      await statusOf(get(world, `${DEMAND}?market=no-such`)),
      await statusOf(get(world, `${DEMAND}?keyword_id=9007199254740991`)),
    ],
    byDefault: [404, 404, 404],
    switched: [200, 200, 200],
  },
  {
    name: "queuedSeconds",
    to: 5,
    look: (world) => taskAfter(world, 19),
    byDefault: "queued queued",
    switched: "running investigating",
  },
  {
    name: "investigatingSeconds",
    to: 10,
    look: (world) => taskAfter(world, 20 + 10),
    byDefault: "running investigating",
    switched: "running generating_report",
  },
  {
    name: "generatingReportSeconds",
    to: 1,
    look: (world) => taskAfter(world, 20 + 240 + 1),
    byDefault: "running generating_report",
    switched: "succeeded complete",
  },
  {
    name: "fourthInvestigationStatus",
    to: 409,
    async look(world) {
      const slug = await anySlug(world);
      for (let count = 0; count < 3; count++) await start(world, world.key, slug, uuid(count));
      return refusal(await start(world, world.key, slug, uuid(3)));
    },
    byDefault: { status: 429, code: "ACTIVE_INVESTIGATIONS_EXCEEDED" },
    switched: { status: 409, code: "ACTIVE_INVESTIGATIONS_EXCEEDED" },
  },
  {
    name: "investigationsPerMonth",
    to: 1,
    async look(world) {
      const slug = await anySlug(world);
      const first = await start(world, world.key, slug, uuid(0));
      const second = await start(world, world.key, slug, uuid(1));
      const repeated = await start(world, world.key, slug, uuid(0));
      await world.emulator.control.advance({ to: "2026-11-01T00:00:00Z" });
      const nextMonth = await start(world, world.key, slug, uuid(1));
      return [first, second, repeated, nextMonth].map((told) => refusal(told));
    },
    byDefault: [ACCEPTED, ACCEPTED, ACCEPTED, ACCEPTED],
    switched: [ACCEPTED, { status: 429, code: "PRO_API_QUOTA_EXHAUSTED" }, ACCEPTED, ACCEPTED],
  },
  {
    name: "quotaHeadersOnEveryAnswer",
    to: false,
    async look({ ask, developerKey: key }) {
      const limits: (string | null)[] = [];
      for (let call = 0; call <= 50; call++) {
        limits.push((await ask(`${RANKINGS}?limit=1`, { key })).headers.get("x-quota-limit"));
      }
      return [limits[0], limits[50]];
    },
    byDefault: ["50", "50"],
    switched: [null, "50"],
  },
  {
    name: "developerTotals",
    to: "all",
    async look({ ask, developerKey: key }) {
      const found = await Promise.all([RANKINGS, DEMAND].map((path) => ask(path, { key })));
      return found.map(({ body }) => {
        const { total, total_pages, has_more } = body["pagination"] as Record<string, number | boolean>;
        return [Number(total) > 10, Number(total_pages) > 1, has_more];
      });
    },
    byDefault: [
      [false, false, false],
      [false, false, false],
    ],
    switched: [
      [true, true, true],
      [true, true, true],
    ],
  },
  {
    name: "rateLimitRetryAfter",
    to: false,
    async look(world) {
      await Promise.all(Array.from({ length: 120 }, () => get(world, NO_TASK)));
      const { status, headers } = await get(world, NO_TASK);
      return [status, headers.get("retry-after")];
    },
    byDefault: [429, "60"],
    switched: [429, null],
  },
  {
    name: "allowLoopbackHttp",
    to: true,
    look: async (world) => [
      await statusOf(register(world, NOWHERE)),
      await statusOf(register(world, "http://10.0.0.1/")),
    ],
    byDefault: [400, 400],
    switched: [201, 400],
  },
  {
    name: "retrySeconds",
    to: "5",
    also: LOOPBACK,
    look: (world) => attemptsAfter(world, 9),
    byDefault: 1,
    switched: 2,
  },
  { name: "deliveriesInFlight", to: 1, also: LOOPBACK, look: mostAtOnce, byDefault: true, switched: false },
  {
    name: "pauseAfterFailures",
    to: 1,
    also: LOOPBACK,
    async look(world) {
      const { control, registrationId, publish } = await subscribed(
        world,
        (_request, response) => void response.writeHead(500).end(),
      );
      await publish();
      await control.settle();
      return (await control.readRegistration({ registration_id: registrationId })).status;
    },
    byDefault: "active",
    switched: "paused",
  },
  {
    name: "unverifiedBecome",
    to: "deleted",
    also: { ...LOOPBACK, retrySeconds: "10" },
    async look(world) {
      const { control } = world.emulator;
      const { body } = await register(world, NOWHERE);
      const statusNow = async () => (await control.readRegistration({ registration_id: String(body["id"]) })).status;
      await control.settle();
      const between = await statusNow();
      await control.advance({ seconds: 10 });
      return [between, await statusNow()];
    },
    byDefault: ["pending", "pending"],
    switched: ["pending", "deleted"],
  },
  {
    name: "longestRetryAfterSeconds",
    to: 0,
    also: LOOPBACK,
    look: (world) => attemptsAfter(world, 11, "600"),
    byDefault: 1,
    switched: 2,
  },
  {
    name: "redeliversOldSignals",
    to: true,
    also: LOOPBACK,
    async look(world) {
      const { control, signals, publish, registrationId } = await subscribed(world);
      await publish();
      await control.settle();
      await control.advance({ hours: 25 });
      const { items } = await control.listDeliveries({ registration_id: registrationId });
      const delivery = items.find(({ event_id }) => event_id.startsWith("sig_"));
      await control.redeliver({ delivery_id: delivery?.delivery_id ?? 0 }).catch(() => undefined);
      await control.settle();
      return signals.length;
    },
    byDefault: 1,
    switched: 2,
  },
  {
    name: "signatureClock",
    to: "machine",
    also: LOOPBACK,
    async look(world) {
      const { control, signals, publish } = await subscribed(world);
      await control.advance({ hours: 3 });
      await publish();
      const { now } = await control.settle();
      const signed = /^t=(\d+),/.exec(String(signals[0]?.headers["x-service-signature"]))?.[1];
      return Number(signed) * 1000 === Date.parse(now);
    },
    byDefault: true,
    switched: false,
  },
  {
    name: "firstSignalId",
    to: 7,
    async look(world) {
      const signal = { signal_type: "new_model", slug: await anySlug(world) } as const;
      const { control } = world.emulator;
      return [(await control.publishSignal(signal)).signal_id, (await control.publishSignal(signal)).signal_id];
    },
    byDefault: [880_001, 880_002],
    switched: [7, 8],
  },
  {
    name: "monthObservedOnDay",
    to: 5,
    async look(world) {
      await world.emulator.control.advance({ to: "2026-11-02T06:00:00Z" });
      return (await rows(world, `${RANKINGS}?limit=1`))[0]?.["latest_month"];
    },
    byDefault: "2026-10",
    switched: "2026-09",
  },
];
