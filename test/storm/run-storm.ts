import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Pool } from "pg";
import { onTestFinished } from "vitest";
import { canMount, smallDisk } from "../faults/disk/small-disk.js";
import { eventually } from "../faults/eventually.js";
import { shortenCrashDelays } from "../faults/postgres/open-stores.js";
import { seededRandom } from "../faults/seeded-random.js";
import { makeOwnPostgres } from "../own-postgres.js";
import { tempFolder } from "../unit/temp-folder.js";
import { checkHistory } from "./check-history.js";
import { letFaultsHappen, type FaultName } from "./faults.js";
import { nowMs, openHistory, readHistory, type FinalRow } from "./history.js";
import { startMachine, urlOf, type Machine } from "./machine.js";
import { sendToTwo } from "./sender.js";

export interface StormConfig {
  seed: number;
  seconds: number;
  events: number;
  machines: number;
  faults: readonly FaultName[];
  /** The mean time from one fault to the next. */
  everyMs: number;
  /** Called with a line for people. */
  report: (line: string) => void;
}

/** The clocks of the machines differ by so much. */
const CLOCKS_APART_MS = 600_000;
/** Room for the data, the log and the filler. */
const DISK_MEGABYTES = 400;
/**
 * Long enough for leases that no process knows, which end after 40 seconds, and for events that are
 * handed off one by one.
 */
const DRAIN_MS = 600_000;
const BURSTS_EVERY_MS = 50;
/**
 * More are not under way at once: what a busy machine sends again and again would leave it no time
 * for anything else.
 */
const MOST_UNDER_WAY = 500;

/** @returns what was found, and the receivers that ended by themselves */
export async function runStorm(config: StormConfig) {
  const { seed, seconds, events, report } = config;
  report(`seed ${seed}: ${events} events to ${config.machines} machines in ${seconds} s`);
  // In CI a machine that cannot mount fails, so that no fault is missing unseen.
  const mayMount = canMount || process.env["CI"] !== undefined;
  const disk = config.faults.includes("fullDisk") && mayMount ? smallDisk(DISK_MEGABYTES) : null;
  const faults = config.faults.filter((name) => name !== "fullDisk" || disk !== null);
  const settings = ["shared_buffers=32MB", "max_wal_size=96MB", "min_wal_size=64MB"];
  const server = await makeOwnPostgres(settings, undefined, undefined, disk?.folder);
  onTestFinished(() => server.remove());
  const folder = join(tempFolder(), "history");
  mkdirSync(folder);
  const admin = new Pool({ connectionString: urlOf(server.port), max: 1 });
  admin.on("error", () => undefined);

  const note = openHistory(folder, "storm");
  const crashes: string[] = [];
  const onCrash = (what: string): void => void crashes.push(what);
  const machines: Machine[] = [];
  for (let index = 0; index < config.machines; index += 1) {
    const clockAheadMs = CLOCKS_APART_MS * (index / (config.machines - 1) - 0.5);
    machines.push(await startMachine({ index, clockAheadMs, folder, server, note, onCrash }));
  }
  await eventually("the start of all receivers", () =>
    machines.every(({ port }) => port() !== null),
  );
  // An event that three of these faults met would otherwise wait for up to an hour.
  await shortenCrashDelays(admin, "signalbox", 200);
  await admin.query("CREATE TABLE effect (event_id text NOT NULL)");

  let lastTurnAt = nowMs();
  const watch = setInterval(() => {
    const since = lastTurnAt;
    lastTurnAt = nowMs();
    if (lastTurnAt - since > 2000) for (const machine of machines) machine.proxyStoodStill(since);
  }, 100).unref();
  const beganAt = nowMs();
  const untilMs = beganAt + seconds * 1000;
  const raging = letFaultsHappen(
    { machines, server, disk, random: seededRandom(seed) },
    faults,
    untilMs,
    config.everyMs,
  );
  let acknowledged = 0;
  const refusals = new Map<string, number>();
  const sending = { machines, note, random: seededRandom(seed + 1), refusals };
  const sends: Promise<void>[] = [];
  for (let reportAt = 0; sends.length < events; await delay(BURSTS_EVERY_MS)) {
    const due = Math.min(events, Math.ceil(((nowMs() - beganAt) / (seconds * 1000)) * events));
    while (sends.length < due && sends.length - acknowledged < MOST_UNDER_WAY) {
      sends.push(
        sendToTwo(`storm-${seed}-${sends.length}`, sending).then(() => void (acknowledged += 1)),
      );
    }
    if (nowMs() - beganAt < reportAt) continue;
    reportAt += 30_000;
    report(
      `${Math.round((nowMs() - beganAt) / 1000)} s: ${sends.length} sent, ${acknowledged} acknowledged twice`,
    );
  }
  const counts = await raging;
  await Promise.all(sends);
  const calmAt = nowMs();
  report(`all acknowledged ${Math.round((calmAt - untilMs) / 1000)} s after the last fault`);

  // What is not done then is a finding.
  const count =
    "SELECT count(*)::int AS open FROM signalbox.inbox WHERE state IN ('ready', 'leased')";
  const isDrained = async (): Promise<boolean> =>
    (await admin.query<{ open: number }>(count)).rows[0]?.open === 0;
  while (!(await isDrained().catch(() => false)) && nowMs() < calmAt + DRAIN_MS) await delay(200);
  await Promise.all(machines.map((machine) => machine.close()));
  clearInterval(watch);
  const query =
    "SELECT event_id AS id, state, seq::int AS seq, encode(lane, 'hex') AS key, state = 'done' AND coalesce(last_error, '') LIKE 'superseded by %' " +
    "AS superseded FROM signalbox.inbox JOIN signalbox.inbox_body USING (seq)";
  const { rows } = await admin.query<FinalRow>(query);
  const effects = (await admin.query<{ id: string }>("SELECT event_id AS id FROM effect")).rows.map(
    ({ id }) => id,
  );
  await admin.end();

  const lines = readHistory(folder);
  const findings = checkHistory(lines, rows, effects);
  const calls = lines.filter(({ say }) => say === "begun").length;
  const flagged = lines.filter((line) => line.say === "begun" && line.possiblyRepeated).length;
  const duplicates = lines.filter((line) => line.say === "acknowledged" && line.duplicate).length;
  report(
    `drained ${Math.round((nowMs() - calmAt) / 1000)} s later: ${rows.length} rows, ${effects.length} effects`,
  );
  report(`faults: ${[...counts].map(([name, times]) => `${name} ${times}`).join(", ")}`);
  report(
    `answers that were no 2xx: ${[...refusals].map(([code, times]) => `${code} ${times}`).join(", ")}`,
  );
  report(
    `${duplicates} duplicates; ${calls} hand-offs, ${flagged} of them flagged as possible repeats`,
  );
  report(
    `findings: ${JSON.stringify(findings.slice(0, 20))}, ended by themselves: ${crashes.length}`,
  );
  const kinds = new Map(findings.map(({ broken, id }) => [broken, id]));
  for (const [broken, id] of kinds) report(`${broken}:\n${storyOf(id, lines)}`);
  return { findings, crashes };
}

/** What happened to an event, and to its processes meanwhile. */
function storyOf(id: string, lines: ReturnType<typeof readHistory>): string {
  const calls = lines.flatMap((line) =>
    line.say === "begun" && line.id === id ? [`${line.process} ${line.call}`] : [],
  );
  const processes = new Set(calls.map((call) => call.split(" ")[0]));
  const concerning = lines.filter(
    (line) =>
      ("id" in line && line.id === id) ||
      (line.say === "ended" && calls.includes(`${line.process} ${line.call}`)) ||
      (line.say === "silenced" && processes.has(line.process)),
  );
  return concerning.map((line) => JSON.stringify(line)).join("\n");
}
