import { copyFileSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { createManualClock, type ManualClock } from "../../src/kit/testing/manual-clock.js";
import type { Tier } from "../../src/service/contract/access.js";
import type { AccountFeature } from "../../src/service/emulator/access/create-access.js";
import {
  createEmulator,
  type Emulator,
} from "../../src/service/emulator/instance/create-emulator.js";
import type { EmulatorOptions } from "../../src/service/emulator/instance/options.js";

/** The evening of a month's last day, so that a month's end is near. */
export const BEGINNING = Date.UTC(2026, 9, 31, 20);

export interface RunningEmulator {
  emulator: Emulator;
  clock: ManualClock;
  /** Asks the REST API. */
  ask: Ask;
  /** An account with a key. */
  account(
    tier: Tier,
    more?: { entitlements?: readonly AccountFeature[]; scopes?: readonly Scope[] },
  ): Promise<{ accountId: number; key: string }>;
}

type Scope = "research:execute" | "research:read" | "webhooks:manage" | "mcp:tools";

export type Ask = (path: string, how?: Asked) => Promise<Told>;

export interface Asked {
  method?: string;
  key?: string;
  headers?: Record<string, string>;
  /** JSON, unless it is a text or bytes. */
  body?: unknown;
}

export interface Told {
  status: number;
  headers: Headers;
  body: Record<string, unknown>;
  text: string;
}

/**
 * An emulator on a clock that stands still. Closed when the test, or the file's hook that asked for
 * it, is over.
 */
export async function startEmulator(options: EmulatorOptions = {}): Promise<RunningEmulator> {
  const running = await openEmulator(options);
  onTestFinished(() => running.emulator.close());
  return running;
}

/** The same, for a caller who closes it. */
export async function openEmulator(options: EmulatorOptions = {}): Promise<RunningEmulator> {
  const clock = createManualClock(BEGINNING);
  const hasUsualData = (["db", "seed", "startAt", "accounts"] as const).every(
    (name) => options[name] === undefined,
  );
  const emulator = createEmulator({
    port: 0,
    clock,
    ...(hasUsualData && { db: await usualDatabase() }),
    ...options,
  });
  await emulator.start();
  return {
    emulator,
    clock,
    ask: askAt(() => emulator.baseUrl),
    async account(tier, { entitlements, scopes } = {}) {
      const { account_id } = await emulator.control.createAccount({
        tier,
        ...(entitlements !== undefined && { entitlements: [...entitlements] }),
      });
      const { key } = await emulator.control.createKey({
        account_id,
        ...(scopes !== undefined && { scopes: [...scopes] }),
      });
      return { accountId: account_id, key };
    },
  };
}

let made: Promise<string> | undefined;
let copies = 0;

/**
 * A database with the usual data. Generating the data is slow, so each worker generates them once
 * and copies the database.
 */
export async function usualDatabase(): Promise<string> {
  made ??= makeUsualDatabase();
  const original = await made;
  const copy = `${original}.${++copies}`;
  copyFileSync(original, copy);
  return copy;
}

async function makeUsualDatabase(): Promise<string> {
  const db = join(mkdtempSync(join(tmpdir(), "signalbox-emulator-")), "usual.db");
  const emulator = createEmulator({ port: 0, clock: createManualClock(BEGINNING), db });
  await emulator.start();
  await emulator.close();
  return db;
}

/** Asks below an address. */
export function askAt(base: () => string): Ask {
  return async (path, { method, key, headers = {}, body } = {}) => {
    const isRaw = typeof body === "string" || body instanceof Uint8Array;
    const response = await fetch(`${base()}${path}`, {
      method: method ?? (body === undefined ? "GET" : "POST"),
      headers: {
        ...(key !== undefined && { Authorization: `Bearer ${key}` }),
        ...(body !== undefined && { "Content-Type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: isRaw ? (body as string) : JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: text === "" ? {} : JSON.parse(text),
    };
  };
}

/** What a body and its status tell of a refusal. */
export function refusal({ status, body }: Told): { status: number; code: unknown } {
  return { status, code: (body as { error?: { code?: unknown } }).error?.code };
}
