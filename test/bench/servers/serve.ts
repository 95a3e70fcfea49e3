import { readFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { answerQuestions } from "../processes/questions.js";
import { HOST } from "./endpoint.js";
import { watchLoop, type LoopDelay, type LoopWatch } from "../processes/loop-watch.js";

/** A server's figures for the time between `begin` and `end`. */
export interface ServerSample {
  /** All threads: the event loop's, libuv's pool, workers, V8's own. */
  cpuMs: number;
  rssBytes: number;
  /**
   * Bytes that the process caused to be written to the disk, in whole pages; null if the system
   * does not provide them.
   */
  writtenBytes: number | null;
  loop: LoopDelay;
}

export interface BenchServer {
  listener: RequestListener;
  /** How many were handed off so far. Servers without a hand-off leave it out. */
  handedOff?: () => number;
  close?: () => Promise<void> | void;
}

/** What each server is started with. */
export interface ServerConfig {
  /** Where it may keep files; empty at first. */
  folder: string;
  /** The connection string of an empty PostgreSQL database, for a server that needs one. */
  database?: string;
}

const DRAIN_POLL_MS = 2;

export function serverConfig(): ServerConfig {
  return JSON.parse(process.argv[2] ?? "{}") as ServerConfig;
}

/** Serves on a free port and answers the questions that the bench has for a server. */
export function serve({ listener, handedOff, close }: BenchServer): void {
  const server = createServer(listener);
  const port = new Promise<number>((resolve) => {
    server.listen(0, HOST, () => resolve((server.address() as AddressInfo).port));
  });
  let before = readUsage();
  let watch: LoopWatch | null = null;

  answerQuestions(
    new Map<string, (input: never) => unknown>([
      ["port", () => port],
      [
        "begin",
        () => {
          watch = watchLoop();
          before = readUsage();
        },
      ],
      ["end load", () => watch?.stop()],
      [
        "drain",
        async ({ acknowledged }: { acknowledged: number }) => {
          if (handedOff === undefined) return;
          while (handedOff() < acknowledged) await delay(DRAIN_POLL_MS);
        },
      ],
      [
        "usage",
        () => {
          const after = readUsage();
          return {
            cpuMs: after.cpuMs - before.cpuMs,
            writtenBytes:
              after.writtenBytes === null || before.writtenBytes === null
                ? null
                : after.writtenBytes - before.writtenBytes,
            rssBytes: process.memoryUsage.rss(),
          };
        },
      ],
      ["handed off", () => handedOff?.() ?? null],
      [
        "close",
        async () => {
          server.close();
          server.closeAllConnections();
          await close?.();
        },
      ],
    ]),
  );
}

interface Usage {
  cpuMs: number;
  writtenBytes: number | null;
}

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
