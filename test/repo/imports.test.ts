import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../unit/temp-folder.js";
import {
  circlesIn,
  folderGraph,
  importGraph,
  readSources,
  type ImportGraph,
} from "./import-graph.js";

const ROOT = join(import.meta.dirname, "../..");
const FILES = importGraph(readSources());

const WINGS = ["base", "kit", "page", "service", "cli"];

/**
 * What the files of a room import, beside files of the room itself. The first row that fits a file
 * counts; a file that no row fits imports what its wing may. `only` names all that is allowed,
 * `not` what is forbidden.
 */
const ROOMS: readonly { room: RegExp; only?: RegExp; not?: RegExp }[] = [
  // The scheme is pure, so that other tools can use it.
  { room: /^kit\/senders\/signature\//, only: /^(base\/errors\.ts|node:crypto)$/ },
  { room: /^kit\/senders\/signals\/(?!signals\.)/, only: /^(base\/text\/parse-json\.ts|zod)$/ },
  { room: /^kit\/senders\//, not: /^(kit\/(?!senders\/)|express$|better-sqlite3$)/ },
  // The inbox knows the store port: no store, no receiver, no framework.
  { room: /^kit\/inbox\//, only: /^(base\/|kit\/senders\/signature\/|node:|zod$|pino$)/ },
  // A store knows the port alone.
  {
    room: /^kit\/stores\//,
    only: /^(base\/|kit\/inbox\/(activity|batch|crashes|done-reasons|durations|identity|lane|store|stored-events|deleting\/mentions|situation\/trouble)\.ts$|node:|zod$|better-sqlite3$)/,
  },
  // The user brings the store and the framework.
  { room: /^kit\/receiver\//, only: /^(base\/|kit\/(senders|inbox)\/|node:|zod$|pino$|raw-body$)/ },
  // It brings no SDK.
  {
    room: /^kit\/telemetry\//,
    only: /^(base\/|kit\/(senders|inbox|receiver)\/|node:|@opentelemetry\/api$)/,
  },
  // It opens no file.
  { room: /^kit\/testing\//, not: /^kit\/(stores\/(sqlite|postgres)\/|telemetry\/|index\.ts)/ },
  // The root export pulls in no store, and no OpenTelemetry.
  { room: /^kit\/index\.ts$/, not: /^kit\/(stores|testing|telemetry)\// },
  // These run in a browser: types of the APIs, and code without Node.
  {
    room: /^(page\/parts\/(?!page-server)|page\/inbox\/browser\/|service\/emulator\/dashboard\/)/,
    not: /^(kit\/(stores|testing|receiver|index)|kit\/senders\/signature\/|service\/client\/|node:|express$|better-sqlite3$)/,
  },
  // A page knows the inbox and the receiver; no store, no framework, and not its own browser half.
  {
    room: /^page\//,
    not: /^(kit\/(stores|testing|index)|page\/inbox\/browser\/|express$|better-sqlite3$)/,
  },
  // The contract runs wherever fetch does, and so does the client, which knows nothing else.
  { room: /^service\/contract\//, only: /^(base\/|kit\/senders\/(signals|signature)\/|zod$)/ },
  {
    room: /^service\/client\//,
    only: /^(base\/(?!sqlite)|service\/contract\/|kit\/senders\/signals\/|zod$)/,
  },
  // The emulator is the service: it knows no receiver, inbox or store.
  {
    room: /^service\/emulator\//,
    not: /^(kit\/(receiver|inbox|stores|testing|index)|service\/client\/)/,
  },
];

/** Each import of `graph` that its wing or its room forbids, as `importer -> imported`. */
function forbiddenIn(graph: ImportGraph): string[] {
  return [...graph].flatMap(([path, targets]) =>
    [...targets]
      .filter((target) => !mayImport(path, target))
      .map((target) => `${path} -> ${target}`),
  );
}

function mayImport(path: string, target: string): boolean {
  const [from, to] = [path, target].map((each) => each.replace(/^src\//, "")) as [string, string];
  const [wing, other] = [from, to].map((each) => WINGS.indexOf(each.split("/")[0] as string)) as [
    number,
    number,
  ];
  if (target.startsWith("src/") && (wing === -1 || other === -1 || other > wing)) return false;
  const rule = ROOMS.find(({ room }) => room.test(from));
  if (rule?.not?.test(to)) return false;
  return rule?.only === undefined || rule.room.test(to) || rule.only.test(to);
}

test("a wing imports only wings before it, and a room what it may", () => {
  expect(forbiddenIn(FILES)).toEqual([]);
  expect(new Set(folderGraph(FILES, 1).keys())).toEqual(new Set(WINGS));
});

test.each([
  ["a wing", "base/time/x.ts", "kit/inbox/store.ts"],
  ["a wing, by a type", "kit/receiver/x.ts", "page/inbox/guard.ts"],
  ["the client", "service/client/x.ts", "service/emulator/index.ts"],
  ["the signature", "kit/senders/signature/x.ts", "base/time/clock.ts"],
  ["the signature", "kit/senders/signature/x.ts", "node:fs"],
  ["the events", "kit/senders/signals/x.ts", "base/errors.ts"],
  ["a sender", "kit/senders/x.ts", "kit/inbox/store.ts"],
  ["the inbox", "kit/inbox/x.ts", "kit/stores/memory.ts"],
  ["the inbox", "kit/inbox/x.ts", "express"],
  ["a store", "kit/stores/sqlite/x.ts", "kit/inbox/batcher.ts"],
  ["the receiver", "kit/receiver/adapters/x.ts", "express"],
  ["the receiver", "kit/receiver/x.ts", "kit/stores/memory.ts"],
  ["the receiver", "kit/receiver/x.ts", "@opentelemetry/api"],
  ["telemetry", "kit/telemetry/x.ts", "@opentelemetry/sdk-metrics"],
  ["testing", "kit/testing/x.ts", "kit/stores/sqlite/sqlite-store.ts"],
  ["the root export", "kit/index.ts", "kit/stores/memory.ts"],
  ["browser code", "page/parts/x.tsx", "node:fs"],
  ["browser code", "page/inbox/browser/x.tsx", "kit/receiver/pipeline.ts"],
  ["browser code", "service/emulator/dashboard/x.tsx", "service/client/index.ts"],
  ["a page", "page/inbox/x.ts", "kit/stores/memory.ts"],
  ["a page", "page/inbox/x.ts", "page/inbox/browser/find-events.ts"],
  ["the contract", "service/contract/x.ts", "node:crypto"],
  ["the contract", "service/contract/x.ts", "kit/inbox/store.ts"],
  ["the client", "service/client/x.ts", "pino"],
  ["the emulator", "service/emulator/http/x.ts", "kit/inbox/store.ts"],
])("%s does not import what it must not: %s -> %s", (_, from, to) => {
  const up = to.endsWith(".ts") ? "../".repeat(from.split("/").length - 1) : "";
  const texts = { [from]: `export * from "${up}${to}";`, [to]: "" };
  expect(forbiddenIn(importGraph(inSrc(texts)))).toHaveLength(1);
});

test("no files of src import each other in a circle", () => {
  expect(circlesIn(FILES)).toEqual([]);
});

test("no rooms of a wing import each other in a circle", () => {
  expect(circlesIn(folderGraph(FILES, 2))).toEqual([]);
});

test.each([
  ["a value", { "a/x.ts": 'import { y } from "./y.js";', "a/y.ts": 'import { x } from "./x.js";' }],
  [
    "a type",
    { "a/x.ts": 'import type { Y } from "./y.js";', "a/y.ts": 'export { x } from "./x.js";' },
  ],
  [
    "a .tsx file",
    { "a/x.ts": 'import { y } from "./y.js";', "a/y.tsx": 'import { x } from "./x.js";' },
  ],
  [
    "import()",
    { "a/x.ts": 'const y = await import("./y.js");', "a/y.ts": 'type X = import("./x.js").X;' },
  ],
])("a circle of files by %s is found", (_, texts) => {
  const paths = Object.keys(texts).map((path) => `src/${path}`);
  expect(circlesIn(importGraph(inSrc(texts)))).toEqual([paths]);
});

test("a circle of rooms is found, though no files have one", () => {
  const texts = {
    "kit/a/x.ts": 'import "../b/x.js";',
    "kit/b/x.ts": "",
    "kit/b/y.ts": 'import type {} from "../c/x.js";',
    "kit/c/x.ts": 'import("../a/y.js");',
    "kit/a/y.ts": "",
  };
  const graph = importGraph(inSrc(texts));
  expect(circlesIn(graph)).toEqual([]);
  expect(circlesIn(folderGraph(graph, 2))).toEqual([["kit/a", "kit/b", "kit/c"]]);
});

function inSrc(texts: Record<string, string>): Map<string, string> {
  return new Map(Object.entries(texts).map(([path, text]) => [`src/${path}`, text]));
}

test("lint refuses the environment and the console outside the command line", () => {
  const folder = tempFolder();
  copyFileSync(join(ROOT, ".oxlintrc.json"), join(folder, ".oxlintrc.json"));
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  const paths = ["base", "kit", "page", "service"].map((wing) => `src/${wing}/probe.ts`);
  for (const path of paths) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(
      join(folder, path),
      'export const home = process.env["HOME"];\nconsole.log(home);\n',
    );
  }
  const oxlint = join(ROOT, "node_modules/oxlint/bin/oxlint");
  const { stdout } = spawnSync(process.execPath, [oxlint, "-f", "json", "src"], {
    cwd: folder,
    encoding: "utf8",
  });
  const { diagnostics } = JSON.parse(stdout) as {
    diagnostics: { code: string; filename: string }[];
  };
  const found = diagnostics.map(({ code, filename }) => `${filename} ${code}`);
  for (const path of paths) {
    expect(found).toContain(`${path} node(no-process-env)`);
    expect(found).toContain(`${path} eslint(no-console)`);
  }
});
