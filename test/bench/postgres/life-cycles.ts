import { FIRST_SENT } from "../load/event-ids.js";
import type { Measured, PartContext } from "../parts/part-context.js";
import { startProcess } from "../processes/start-process.js";
import type { ContenderSpec, Handled } from "./contender.js";
import type { OwnServer } from "./own-server.js";

/** Processes that handle events at once, in one database. */
export interface Lane extends ContenderSpec {
  label: string;
  processes?: number;
}

/** So short that a machine that is busy for a while is so for all lanes. */
const SLICE_MS = 500;
/** More than a lane handles in a slice. */
const NUMBERS = 100_000;

/** What one lane did in a round. */
export type Slices = Record<"events" | "elapsedMs" | "cpuMs" | "serverCpuMs" | "walBytes", number>;
export type LaneRow = Measured<{ label: string; isOurs: boolean }, Slices>;

/** Each lane in turn for a short while, again and again. */
export async function measureLifeCycles(
  server: OwnServer,
  lanes: readonly Lane[],
  context: PartContext,
): Promise<LaneRow[]> {
  const { rounds, seconds, progress } = context;
  const started = lanes.map((lane) => ({
    lane,
    children: Array.from({ length: lane.processes ?? 1 }, () =>
      startProcess("postgres/contender.js", lane),
    ),
    results: [] as Slices[],
  }));
  let from = FIRST_SENT;

  async function handle({ children }: (typeof started)[number], ms: number): Promise<Slices> {
    const before = { wal: await server.walBytes(), cpuMs: server.cpuMs() };
    const handled = await Promise.all(
      children.map((child) => child.ask<Handled>("handle", { from: (from += NUMBERS), ms })),
    );
    const cpuMs = server.cpuMs();
    return {
      events: sum(handled.map(({ events }) => events)),
      elapsedMs: Math.max(...handled.map(({ elapsedMs }) => elapsedMs)),
      cpuMs: sum(handled.map((each) => each.cpuMs)),
      serverCpuMs: cpuMs === null || before.cpuMs === null ? Number.NaN : cpuMs - before.cpuMs,
      walBytes: (await server.walBytes()) - before.wal,
    };
  }

  try {
    for (const each of started) await handle(each, SLICE_MS);
    for (let round = 0; round < rounds; round++) {
      const figures = new Map(started.map((each) => [each, [] as Slices[]]));
      for (let slice = 0; slice < (seconds * 1000) / SLICE_MS; slice++) {
        for (const each of started) figures.get(each)?.push(await handle(each, SLICE_MS));
      }
      for (const [each, slices] of figures) {
        const total = slices.reduce((a, b) => addSlices(a, b));
        each.results.push(total);
        progress(
          `life cycles ${round + 1}  ${each.lane.label.padEnd(28)} ${rateOf(total).toFixed(0).padStart(6)}/s  cpu ${micros(total.cpuMs, total)} µs, of the server ${micros(total.serverCpuMs, total)} µs`,
        );
      }
    }
    for (const { children } of started)
      await Promise.all(children.map((child) => child.ask("close")));
  } finally {
    for (const { children } of started) await Promise.all(children.map((child) => child.stop()));
  }
  return started.map(({ lane: { label, name }, results }) => ({
    value: { label, isOurs: name === "signalbox" },
    results,
  }));
}

const sum = (values: readonly number[]): number =>
  values.reduce((total, value) => total + value, 0);
export const rateOf = ({ events, elapsedMs }: Slices): number => (events / elapsedMs) * 1000;
const micros = (ms: number, { events }: Slices): string => ((ms * 1000) / events).toFixed(0);

function addSlices(a: Slices, b: Slices): Slices {
  const names = Object.keys(a) as (keyof Slices)[];
  return Object.fromEntries(names.map((name) => [name, a[name] + b[name]])) as Slices;
}
