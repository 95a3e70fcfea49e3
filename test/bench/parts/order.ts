import { join } from "node:path";
import { createReceiver, type InboxStore } from "signalbox";
import { memoryStore } from "signalbox/stores/memory";
import { postgresStore } from "signalbox/stores/postgres";
import { sqliteStore } from "signalbox/stores/sqlite";
import { signalEvent, signedDelivery } from "signalbox/testing";
import { POSTGRES_BINARIES } from "../../own-postgres.js";
import { SECRET } from "../endpoint.js";
import { startOwnServer } from "../postgres/own-server.js";
import { formatCount, spreadOf } from "../report/format.js";
import { makeTable, type PartFindings } from "../report/tables.js";
import type { PartContext } from "./part-context.js";

const KEYS = 2000;
const EVENTS = 10_000;
/** So many others are in each inbox: done, or behind a dead event. */
const OTHERS = 100_000;
const AT_ONCE = 64;

/** Events a second, and the CPU time of the process for one, in microseconds. */
interface Rate {
  rate: number;
  cpuUs: number;
}

const INBOXES = ["unordered", "distinct", "keys", "blocked", "oneKey"] as const;
type Rates = Record<(typeof INBOXES)[number], Rate[]>;

/**
 * What the order by key costs: events without the option, with it and a key for each, with 2,000
 * keys, and with these beside a dead event with 100,000 others behind it, where the other inboxes
 * have as many that are done; and how many events of one key are handed off in a second. In one
 * process, without HTTP, in turn.
 */
export async function measureOrder({
  under,
  rounds,
  progress,
}: PartContext): Promise<PartFindings> {
  const found: [string, Rates][] = [];
  const measure = async (name: string, makeStore: (of: string) => Promise<InboxStore>) => {
    const plain = await openInbox(await makeStore("plain"), undefined);
    const ordered = await openInbox(await makeStore("ordered"), true);
    const blocked = await openInbox(await makeStore("blocked"), true);
    progress(`order  ${name}: ${formatCount(OTHERS)} events come first`);
    for (const inbox of [plain, ordered]) await inbox.rate(OTHERS, KEYS);
    await blocked.block();
    const rates: Rates = { unordered: [], distinct: [], keys: [], blocked: [], oneKey: [] };
    for (let round = 0; round <= rounds; round += 1) {
      const measured = {
        unordered: await plain.rate(EVENTS, EVENTS),
        distinct: await ordered.rate(EVENTS, EVENTS),
        keys: await ordered.rate(EVENTS, KEYS),
        blocked: await blocked.rate(EVENTS, KEYS),
        oneKey: await ordered.rate(EVENTS / 10, 1),
      };
      progress(`order  ${name} ${round}  ${JSON.stringify(measured)}`);
      // The first one compiles.
      if (round === 0) continue;
      for (const inbox of INBOXES) rates[inbox].push(measured[inbox]);
    }
    for (const inbox of [plain, ordered, blocked]) await inbox.close();
    found.push([name, rates]);
  };
  await measure("memory", async () => memoryStore());
  await measure("SQLite", async (of) => sqliteStore(join(under, `order-${of}.db`)));
  if (POSTGRES_BINARIES !== undefined) {
    const server = await startOwnServer(under);
    try {
      await measure("PostgreSQL", async () =>
        postgresStore({ connectionString: await server.newDatabase() }),
      );
    } finally {
      await server.stop();
    }
  }
  const spread = (results: readonly number[]) => spreadOf<number>((rate) => rate)({ results });
  const ratio = (of: keyof Rate, some: readonly Rate[], others: readonly Rate[]): string =>
    spread(some.map((each, round) => each[of] / (others[round]?.[of] ?? NaN)));
  const table = makeTable(
    "What order costs",
    found,
    [
      ["", ([name]) => name],
      ["events/s without order", ([, { unordered }]) => spread(unordered.map(({ rate }) => rate))],
      ["× CPU, a key each", ([, rates]) => ratio("cpuUs", rates.distinct, rates.unordered)],
      ["× rate, a key each", ([, rates]) => ratio("rate", rates.distinct, rates.unordered)],
      [
        `× rate, ${formatCount(KEYS)} keys`,
        ([, rates]) => ratio("rate", rates.keys, rates.unordered),
      ],
      [
        `beside ${formatCount(OTHERS)} that wait`,
        ([, rates]) => ratio("rate", rates.blocked, rates.keys),
      ],
      ["one key: events/s", ([, { oneKey }]) => spread(oneKey.map(({ rate }) => rate))],
    ],
    [
      "From the first delivery to the last hand-off, in one process, without HTTP; all are delivered at once.",
      `Beside ${formatCount(OTHERS)} events that wait: × the rate of the same keys beside as many that are done.`,
    ],
  );
  return { tables: [table] };
}

async function openInbox(store: InboxStore, order: true | undefined) {
  let handedOff = 0;
  let isBlocked = false;
  const receiver = createReceiver({
    secrets: SECRET,
    store,
    order,
    logger: false,
    maxQueued: { events: 100_000 },
    handoff: { maxAttempts: 1 },
    onSignal(signal) {
      if (isBlocked && signal.data.product.slug === "blocked") throw new Error("dead");
      handedOff += 1;
    },
  });
  await receiver.start();

  async function deliver(count: number, slugOf: (n: number) => string): Promise<void> {
    let sent = 0;
    const send = async (): Promise<void> => {
      while (sent < count) {
        const slug = slugOf((sent += 1));
        const delivery = signedDelivery(signalEvent({ data: { product: { slug } } }), {
          secret: SECRET,
        });
        const answer = await receiver.handle({ method: "POST", ...delivery });
        if (answer.status !== 200) throw new Error(`${answer.status} ${answer.body}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, send));
  }

  return {
    /** Makes an event dead, and others behind it. */
    async block(): Promise<void> {
      isBlocked = true;
      await deliver(OTHERS + 1, () => "blocked");
    },
    async rate(count: number, keys: number): Promise<Rate> {
      const before = handedOff;
      const beganAt = performance.now();
      const cpu = process.cpuUsage();
      await deliver(count, (n) => `product-${n % keys}`);
      const isDone = (): boolean => handedOff >= before + count;
      while (!isDone()) await new Promise((resume) => setTimeout(resume, 1));
      const { user, system } = process.cpuUsage(cpu);
      return {
        rate: (count * 1000) / (performance.now() - beganAt),
        cpuUs: (user + system) / count,
      };
    },
    close: () => receiver.close({ graceMs: 0 }),
  };
}
