import { MOST_EARLIER } from "../../src/kit/inbox/lane.js";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { OLDEST_SQLITE } from "../../src/base/sqlite/sqlite-driver.js";
import { EXIT } from "../../src/cli/console/exit.js";
import { CHECKS } from "../../src/cli/probe/check/checks.js";
import ANSWERS from "../../src/cli/deliveries/answers.json" with { type: "json" };
import MISTAKES from "../../src/cli/deliveries/mistakes.json" with { type: "json" };
import { EXAMINATIONS } from "../../src/cli/probe/doctor/examinations.js";
import FINDINGS from "../../src/cli/probe/doctor/findings.json" with { type: "json" };
import { createProgram } from "../../src/cli/program.js";
import { ALL_KEYS } from "../../src/cli/service/dev/key-actions.js";
import { BREAKER_THRESHOLD } from "../../src/kit/inbox/dispatch/breaker.js";
import { LEASE_MARGIN_MS } from "../../src/kit/inbox/dispatch/dispatcher.js";
import { fullJitter } from "../../src/kit/inbox/dispatch/outcomes.js";
import { KEPT } from "../../src/kit/inbox/durations.js";
import { createReceiver, SIGNAL_TYPES } from "../../src/kit/index.js";
import { resolveOptions } from "../../src/kit/receiver/options.js";
import { DEFAULT_GRACE_MS, DRAIN_MARGIN_MS } from "../../src/kit/receiver/receiver.js";
import { REJECTIONS, type Rejection } from "../../src/kit/receiver/rejection.js";
import { MAX_NAME_LENGTH } from "../../src/kit/senders/signals/parse-event.js";
import { memoryStore } from "../../src/kit/stores/memory.js";
import { DISK_RESERVE_BYTES } from "../../src/kit/stores/sqlite/disk/limit-size.js";
import { sqliteStore } from "../../src/kit/stores/sqlite/sqlite-store.js";
import * as testing from "../../src/kit/testing/index.js";
import { DEFAULT_TIMEOUT_MS } from "../../src/kit/testing/wait-for-event.js";
import { resolveClientOptions } from "../../src/service/client/client-options.js";
import { createClient } from "../../src/service/client/index.js";
import { LIMITS } from "../../src/service/contract/limits.js";
import { MCP_TOOLS, type McpTool } from "../../src/service/contract/mcp-tools.js";
import { OPERATIONS, type Operation } from "../../src/service/contract/operations.js";
import { assumptionsSchema } from "../../src/service/emulator/instance/assumption-options.js";
import { resolveEmulatorOptions } from "../../src/service/emulator/instance/options.js";
import { errorOf } from "../unit/signalbox-error-of.js";
import { tempFolder } from "../unit/temp-folder.js";

const ROOT = new URL("../../", import.meta.url);
const MANIFEST = JSON.parse(readFileSync(new URL("package.json", ROOT), "utf8")) as {
  engines: { node: string };
};

/** What the code says about a table of a document. */
export interface TableFacts {
  /** Of the rows. */
  names: readonly string[];
  /** The cells of a row; null or absent: a person writes this one. */
  cells?: (name: string) => readonly (string | null)[];
  /** @default 0 */
  nameColumn?: number;
}

const MINIMAL = {
  secrets: "s",
  store: memoryStore(),
  onSignal: () => undefined,
  logger: false,
} as const;
const RECEIVER = resolveOptions(MINIMAL);
const CLIENT = { baseUrl: "https://service.example/v1" };

/** Of the tables behind `<!-- table: NAME -->`. */
export const TABLES: Readonly<Record<string, () => TableFacts | Promise<TableFacts>>> = {
  "receiver-options": () => {
    const backoff = fullJitter({}, () => 1);
    const bounds = { baseMs: backoff(1), factor: backoff(2) / backoff(1), maxMs: backoff(1000) };
    const defaults = { ...RECEIVER, handoff: { ...RECEIVER.handoff, backoff: bounds } };
    const resolve = (over: object): unknown => resolveOptions({ ...MINIMAL, ...over });
    return optionFacts(resolve, ["maxQueued", "handoff", "handoff.backoff", "retention"], defaults);
  },
  "sqlite-options": () =>
    optionFacts((over) => sqliteStore({ path: "x", ...over }), [], {
      shared: false,
      operator: false,
    }),
  "client-options": () => {
    const resolve = (over: object): unknown => resolveClientOptions({ ...CLIENT, ...over });
    return optionFacts(resolve, ["retry"], { ...resolveClientOptions(CLIENT), baseUrl: null });
  },
  "emulator-options": () =>
    optionFacts((over) => resolveEmulatorOptions(over), [], {
      ...resolveEmulatorOptions({}),
      seed: 1,
      logger: false,
    }),
  receiver: () => ({ names: keysOf(createReceiver(MINIMAL)) }),
  inbox: () => ({ names: membersOf("src/kit/inbox/open-inbox.ts", "Inbox") }),
  health: async () => {
    await using receiver = createReceiver({
      ...MINIMAL,
      store: sqliteStore(join(tempFolder(), "signals.db")),
    });
    await receiver.start();
    const { medium, ...own } = receiver.health();
    return {
      names: [...Object.keys(own), ...Object.keys(medium ?? {}).map((name) => `medium.${name}`)],
    };
  },
  "receiver-events": () => ({
    names: membersOf("src/kit/receiver/receiver-events.ts", "ReceiverEventMap"),
  }),
  answers: () => ({
    nameColumn: 2,
    names: [
      '{"received":true}',
      '{"received":true,"duplicate":true}',
      '{"received":true,"quarantined":true}',
      '{"challenge":"<the received value>"}',
      ...Object.keys(REJECTIONS),
    ],
    cells: (name) => [null, String(rejection(name)?.status ?? 200)],
  }),
  "answer-codes": () => ({
    names: Object.keys(REJECTIONS),
    cells: (name) => [null, String(rejection(name)?.status)],
  }),
  handoff: () => ({
    // `completeSql` has a page of its own.
    names: membersOf("src/kit/inbox/handoff.ts", "Handoff").filter(
      (name) => name !== "completeSql",
    ),
  }),
  testing: () => ({ names: Object.keys(testing) }),
  client: () => ({ names: Object.keys(createClient(CLIENT)) }),
  "client-errors": () => ({
    names: unionOf("src/service/client/client-error.ts", "ClientErrorKind"),
  }),
  commands: () => ({ names: COMMANDS }),
  "exit-codes": () => ({ names: Object.values(EXIT).map(String) }),
  checks: () => ({
    names: CHECKS.map(({ id }) => id),
    cells: (name) => {
      const check = CHECKS.find(({ id }) => id === name);
      return [null, check?.kind ?? null, check?.title ?? null];
    },
  }),
  examinations: () => ({ names: [...new Set(EXAMINATIONS.map(({ group }) => group))] }),
  findings: () => ({ names: findingsOfDoctor() }),
  keys: () => ({ names: ALL_KEYS.map(({ key, name = key }) => name) }),
  faults: () => ({
    names: unionOf("src/service/emulator/webhooks/faults/webhook-faults.ts", "FaultKind"),
  }),
  assumptions: () => {
    const defaults = new Map<string, unknown>(Object.entries(assumptionsSchema.parse({})));
    return {
      names: [...defaults.keys()],
      cells: (name) => [null, `\`${String(defaults.get(name))}\``],
    };
  },
  tools: () => ({
    names: Object.keys(MCP_TOOLS),
    cells: (name) => {
      const { operation }: McpTool = MCP_TOOLS[name as keyof typeof MCP_TOOLS];
      const { scope, quotaUnits }: Operation = OPERATIONS[operation];
      return [null, null, `\`${scope}\``, quotaUnits === 1 ? "1 call" : "none"];
    },
  }),
};

const COMMANDS = await commandNames();
const bound = fullJitter({}, () => 1);
const bounds = Array.from({ length: RECEIVER.handoff.maxAttempts - 1 }, (_, index) =>
  bound(index + 1),
);

/** In front of `<!-- NAME -->`. */
export const NUMBERS: Readonly<Record<string, number | string>> = {
  maxAttempts: RECEIVER.handoff.maxAttempts,
  keyDays: RECEIVER.retention.keyDays,
  payloadDays: RECEIVER.retention.payloadDays,
  slowDeliverySeconds: (RECEIVER.bodyTimeoutMs + RECEIVER.ackTimeoutMs) / 1000,
  firstDelaySeconds: bound(1) / 1000,
  longestDelayHours: bound(1000) / 3_600_000,
  // The mean of a random delay is half of its bound.
  usualDelaysDays: (bounds.reduce((sum, delay) => sum + delay) / 2 / 86_400_000).toFixed(1),
  allDelaysDays: (bounds.reduce((sum, delay) => sum + delay) / 86_400_000).toFixed(1),
  breakerThreshold: BREAKER_THRESHOLD,
  leaseMarginSeconds: LEASE_MARGIN_MS / 1000,
  mostEarlier: MOST_EARLIER,
  diskReserveMebibytes: DISK_RESERVE_BYTES / 2 ** 20,
  graceSeconds: DEFAULT_GRACE_MS / 1000,
  drainMarginSeconds: DRAIN_MARGIN_MS / 1000,
  longestDrainSeconds: (RECEIVER.handoff.timeoutMs + DRAIN_MARGIN_MS) / 1000,
  keptDurations: KEPT,
  longestName: MAX_NAME_LENGTH,
  waitForEventMs: DEFAULT_TIMEOUT_MS,
  signalTypes: SIGNAL_TYPES.length,
  signalTypesOfOne: LIMITS.typesPerRegistration,
  oldestSqlite: OLDEST_SQLITE.join("."),
  oldestNode: MANIFEST.engines.node.replace(">=", ""),
};

/**
 * The options that the refusal of an unknown one lists, with their defaults as code. Words stand
 * for a default that is no value.
 *
 * @param groups the options that have members
 */
function optionFacts(
  resolve: (over: object) => unknown,
  groups: readonly string[],
  defaults: object,
): TableFacts {
  const names = ["", ...groups.map((group) => `${group}.`)].flatMap((prefix) => {
    const { help } = errorOf(() => resolve(nest(`${prefix}xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx`)));
    const known = /^Known are (.*)\.$/.exec(help)?.[1] ?? "";
    return known.split(", ").map((name) => `${prefix}${name}`);
  });
  const isShown = (name: string): boolean => !groups.includes(name) || name === "handoff.backoff";
  return {
    names: names.filter(isShown),
    cells: (name) => {
      const value = name
        .split(".")
        .reduce<unknown>((group, key) => (group as Record<string, unknown>)?.[key], defaults);
      return [
        null,
        ["number", "string", "boolean"].includes(typeof value)
          ? `\`${JSON.stringify(value)}\``
          : null,
      ];
    },
  };
}

const nest = (path: string): object =>
  path.split(".").reduceRight<object | number>((inner, key) => ({ [key]: inner }), 1) as object;

const rejection = (name: string): Rejection | undefined =>
  (REJECTIONS as Record<string, Rejection>)[name];

/** What cannot be enumerated is for other parts of the package. */
function keysOf(value: object): string[] {
  const keys = Reflect.ownKeys(value).filter((key) =>
    Object.prototype.propertyIsEnumerable.call(value, key),
  );
  return keys.map((key) => (key === Symbol.asyncDispose ? "[Symbol.asyncDispose]" : String(key)));
}

function statementsOf(path: string): readonly ts.Statement[] {
  const text = readFileSync(new URL(path, ROOT), "utf8");
  return ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true).statements;
}

/** The names in an interface, which has no form at run time. */
function membersOf(path: string, name: string): string[] {
  const found = statementsOf(path).find(
    (each) => ts.isInterfaceDeclaration(each) && each.name.text === name,
  );
  if (found === undefined) throw new Error(`${path} has no interface ${name}`);
  return [
    ...new Set(
      (found as ts.InterfaceDeclaration).members.map((member) => member.name?.getText() ?? ""),
    ),
  ];
}

/** The texts of a union, such as that of all error codes. */
export function unionOf(path: string, name: string): string[] {
  const found = statementsOf(path).find(
    (each) => ts.isTypeAliasDeclaration(each) && each.name.text === name,
  );
  return [...(found?.getText() ?? "").matchAll(/"(\w+)"/g)].map((match) => match[1] ?? "");
}

async function commandNames(): Promise<string[]> {
  const program = await createProgram({} as never, [], {} as never);
  return program.commands.flatMap((command) => {
    const inner = command.commands.map((each) => `${command.name()} ${each.name()}`);
    // `emulator` is a command and has commands.
    return inner.length === 0 || command.name() === "emulator" ? [command.name(), ...inner] : inner;
  });
}

/** The ids of the catalogues, and those of the store's errors. */
function findingsOfDoctor(): string[] {
  const file = new URL("src/cli/probe/doctor/examine-inbox.ts", ROOT);
  const refused = readFileSync(file, "utf8").matchAll(/refusedWith\("(\w+)"/g);
  const explained = [...Object.values(ANSWERS).flat(), ...MISTAKES];
  return [
    ...new Set([
      ...Object.keys(FINDINGS).map((key) => key.replace(/:.*/, "")),
      ...explained.map(({ id }) => id),
      ...[...refused].map(([, id = ""]) => id),
    ]),
  ];
}
