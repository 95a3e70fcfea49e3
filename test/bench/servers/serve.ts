// A process with one of the servers, on a free port, which answers the questions of the bench.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { HOST } from "../endpoint.js";
import { watchLoop, type LoopDelay } from "../processes/loop-watch.js";
import { answerQuestions } from "../processes/questions.js";
import { serverNamed, type ServerConfig } from "./servers.js";

interface Usage {
  /** All threads: the event loop's, libuv's pool, workers, V8's own. */
  cpuMs: number;
  /**
   * Bytes that the process caused to be written to the disk, in whole pages; null if the system
   * does not provide them.
   */
  writtenBytes: number | null;
}

/** A server's figures for the time between `begin` and `usage`. */
export interface ServerSample extends Usage {
  rssBytes: number;
  loop: LoopDelay;
}

const DRAIN_POLL_MS = 2;

const config = JSON.parse(process.argv[2] ?? "{}") as ServerConfig;
const opening = Promise.resolve(serverNamed(config.name).open(config));
const serving = opening.then(async ({ listener }) => {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
  return server;
});
let before = readUsage();
let watch: ReturnType<typeof watchLoop> | null = null;

answerQuestions({
  port: async () => ((await serving).address() as AddressInfo).port,
  begin() {
    watch = watchLoop();
    before = readUsage();
  },
  endLoad: () => watch?.stop(),
  async drain({ acknowledged }: { acknowledged: number }) {
    const { handedOff = () => acknowledged } = await opening;
    while (handedOff() < acknowledged) await delay(DRAIN_POLL_MS);
  },
  usage(): Omit<ServerSample, "loop"> {
    const after = readUsage();
    const isKnown = after.writtenBytes !== null && before.writtenBytes !== null;
    return {
      cpuMs: after.cpuMs - before.cpuMs,
      writtenBytes: isKnown ? Number(after.writtenBytes) - Number(before.writtenBytes) : null,
      rssBytes: process.memoryUsage.rss(),
    };
  },
  /** @returns how often the callback was called; null: there is none */
  async close(): Promise<number | null> {
    const { handedOff, close } = await opening;
    const server = await serving;
    const count = handedOff?.() ?? null;
    server.close();
    server.closeAllConnections();
    await close?.();
    return count;
  },
});

function readUsage(): Usage {
  const { user, system } = process.cpuUsage();
  return { cpuMs: (user + system) / 1000, writtenBytes: readWrittenBytes() };
}

function readWrittenBytes(): number | null {
  try {
    return Number(/^write_bytes: (\d+)$/m.exec(readFileSync("/proc/self/io", "utf8"))?.[1]);
  } catch {
    return null;
  }
}
