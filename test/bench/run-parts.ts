import { describeMachine } from "./machine.js";
import type { BenchOptions } from "./options.js";
import { chooseRate, measureLatency } from "./parts/latency.js";
import type { PartContext } from "./parts/part-context.js";
import { measureSlowDisk } from "./parts/slow-disk.js";
import { measureThroughput } from "./parts/throughput.js";
import { measureVerification } from "./parts/verification.js";
import type { BenchProcess } from "./processes/start-process.js";
import type { BenchResult, Measured } from "./result.js";
import { measureScaleBodies } from "./scale/scale-bodies.js";
import { measureScaleEvents } from "./scale/scale-events.js";
import { measureScaleMemory } from "./scale/scale-memory.js";
import { SERVERS, findServer, type Server } from "./servers/catalogue.js";

/** What a part compares when nobody says otherwise. */
const ON_SLOW_DISK = ["express-nothing", "signalbox-express5", "signalbox-node", "express-insert"];
const AT_SCALE = ["signalbox-express5", "signalbox-node"];
const OVER_TIME = "signalbox-express5";

export interface RunOptions {
  options: BenchOptions;
  generator: BenchProcess;
  under: string;
  progress: (text: string) => void;
}

/** Runs the parts that are wanted, one after the other. */
export async function runParts({ options, generator, under, progress }: RunOptions): Promise<BenchResult> {
  const { only, rounds, seconds, connections } = options;
  const machine = describeMachine(under);
  const measured = <Value extends object>(value: Value): Measured & Value => ({
    at: new Date().toISOString(),
    machine,
    ...value,
  });
  const context = (usual: readonly string[]): PartContext => ({
    generator,
    servers: options.servers ?? usual.flatMap((name) => findServer(name) ?? []),
    rounds,
    seconds,
    connections,
    under,
    progress,
  });
  const everyone = context(SERVERS.map(({ name }) => name));
  // The tails of many short rounds say less than those of a few.
  const fewer = { rounds: Math.ceil(rounds / 2) };
  const result: BenchResult = {};

  for (const part of only) {
    switch (part) {
      case "throughput":
        result.throughput = measured(await measureThroughput(everyone));
        break;
      case "latency": {
        const rate = options.rate ?? (await chooseRate(everyone, result.throughput?.rows));
        result.latency = measured(await measureLatency({ ...everyone, ...fewer }, rate));
        break;
      }
      case "slow-disk":
        result.slowDisk = measured(await measureSlowDisk({ ...context(ON_SLOW_DISK), ...fewer }));
        break;
      case "verify":
        result.verification = measured(await measureVerification(everyone));
        break;
      case "scale-events":
        result.scaleEvents = measured(await measureScaleEvents(oursAlone(context(AT_SCALE)), options.events));
        break;
      case "scale-bodies":
        result.scaleBodies = measured(await measureScaleBodies(context(AT_SCALE)));
        break;
      case "scale-memory": {
        const server = context([OVER_TIME]).servers[0];
        if (server !== undefined) {
          result.scaleMemory = measured(await measureScaleMemory(everyone, server, options.memoryEvents));
        }
        break;
      }
    }
  }
  return result;
}

/** The others have no inbox that could be filled. */
function oursAlone(context: PartContext): PartContext {
  const servers: readonly Server[] = context.servers.filter(({ isOurs }) => isOurs);
  if (servers.length === 0) throw new Error("scale-events needs a server of signalbox");
  return { ...context, servers };
}
