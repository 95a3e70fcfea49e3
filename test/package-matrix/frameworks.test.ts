import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { signalEvent, signedDelivery } from "../../src/kit/testing/index.js";
import { ownDatabase } from "../contract/own-database.js";
import { POSTGRES_PORT } from "../contract/postgres-medium.js";
import { pack, REPOSITORY } from "../package/installed.js";
import { replayAgainst, SECRET, type App } from "../package/replay-against.js";
import { hasServer, testWith } from "../prerequisites.js";
import { readDocument } from "../repo/markdown.js";
import { run } from "../templates/commands.js";
import { fetchTools, type Fetched } from "../toolchain/fetch-tools.js";

/** The files of the blocks under these headings, which say their paths in their first lines. */
function filesOf(page: string, ...headings: string[]): Record<string, string> {
  const blocks = readDocument(page).blocks.filter(({ heading }) => headings.includes(heading));
  return Object.fromEntries(blocks.map(({ code }) => [/^\/\/ (\S+)/.exec(code)?.[1] ?? "", code]));
}

/** The callbacks of the pages do nothing that takes long. These take half a second. */
function write(folder: string, files: Readonly<Record<string, string>>): void {
  const slowly = "await new Promise((done) => setTimeout(done, 500));\n console.log(handoff.";
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content.replace("console.log(handoff.", slowly));
  }
}

/** Stops it during a callback. */
async function expectOrderlyEnd(folder: string, app: App, db = "signals.db"): Promise<void> {
  const url = `http://127.0.0.1:${app.port}/webhooks/signals`;
  const { status } = await fetch(url, {
    method: "POST",
    ...signedDelivery(signalEvent(), { secret: SECRET }),
  });
  await app.stop();
  // Of the repository, whose driver is one for this Node.
  const main = join(REPOSITORY, "dist/cli/main.js");
  // 1: the quarantined ones need a person.
  const { stdout } = await run(folder, "sh", [
    "-c",
    'node "$0" inbox stats --json --db "$1" || [ $? = 1 ]',
    main,
    db,
  ]);
  expect([status, JSON.parse(stdout)]).toEqual([
    200,
    expect.objectContaining({ leased: 0, dead: 0, quarantined: 23 }),
  ]);
}

const signalbox = `file:${pack().tarball}`;
const QUIET = { NEXT_TELEMETRY_DISABLED: "1", NO_COLOR: "1" };

const onNode = await fetchTools({
  next: "16",
  "@nestjs/core": "12",
  "@nestjs/cli": "12",
  "@nestjs/common": "12",
  "@nestjs/platform-express": "12",
  "@nestjs/platform-fastify": "12",
  "reflect-metadata": "0.2",
  rxjs: "7",
  react: "19",
  "react-dom": "19",
  "@types/react": "19",
  "@types/node": "24",
  typescript: "6",
  signalbox,
});
const [next, nest] = onNode as [Fetched, Fetched];

if (!next.ok || !nest.ok) test.skip(`Next.js and NestJS: ${next.ok ? "" : next.reason}`);
else {
  const root = join(next.folder, "../..");
  // It was fetched without its binary.
  const driver = join(root, "node_modules/better-sqlite3");
  rmSync(driver, { recursive: true });
  symlinkSync(join(REPOSITORY, "node_modules/better-sqlite3"), driver);

  test(`Next.js ${next.version}: built and in development, the app of the page answers replay, and ends its callbacks`, async () => {
    const folder = join(root, "next");
    const page = { "package.json": "{}", ...filesOf("docs/frameworks.md", "Next.js") };
    write(folder, { ...page, ...filesOf("docs/serverless.md", "What to do") });
    await run(folder, "npx", ["next", "build"], QUIET);
    const built = await replayAgainst(folder, ["npx", "next", "start"], {
      ...QUIET,
      CRON_SECRET: "a secret",
    });
    const headers = { Authorization: "Bearer a secret" };
    const drained = await fetch(`http://127.0.0.1:${built.port}/drain`, { headers });
    expect([drained.status, await drained.json()]).toEqual([200, { done: true }]);
    expect((await fetch(`http://127.0.0.1:${built.port}/drain`)).status).toBe(401);
    await expectOrderlyEnd(folder, built);
    const developed = await replayAgainst(folder, ["npx", "next", "dev"], QUIET);
    await developed.stop();
  });

  test.each(["With Express", "With Fastify"])(
    `NestJS ${nest.version}: built by its command, the app of the page answers replay, and ends its callbacks: %s`,
    async (adapter) => {
      const name = adapter.toLowerCase().replace(" ", "-");
      const folder = join(root, name);
      await run(root, "npx", [
        "nest",
        "new",
        "--skip-install",
        "--skip-git",
        "--package-manager",
        "npm",
        name,
      ]);
      write(folder, filesOf("docs/frameworks.md", "NestJS", adapter));
      edit(join(folder, "src/app.module.ts"), "imports: []", "imports: [SignalsModule]");
      edit(
        join(folder, "src/app.module.ts"),
        "",
        'import { SignalsModule } from "./signals.module.js";\n',
      );
      // Its test runner is not installed.
      edit(join(folder, "tsconfig.json"), '"vitest/globals", ', "");
      await run(folder, "npm", ["run", "build"]);
      await expectOrderlyEnd(folder, await replayAgainst(folder, ["npm", "run", "start:prod"]));
    },
  );
}

function edit(file: string, from: string, to: string): void {
  const text = readFileSync(file, "utf8");
  if (!text.includes(from)) throw new Error(`${file} has no ${from}`);
  writeFileSync(file, text.replace(from, to));
}

const OS = process.platform === "win32" ? "windows" : process.platform;
const GLIBC = process.platform === "linux" ? "-glibc" : "";
const others = await fetchTools({
  bun: `npm:@oven/bun-${OS}-${process.arch === "arm64" ? "aarch64" : process.arch}@1`,
  deno: `npm:@deno/${process.platform}-${process.arch}${GLIBC}@2`,
  "better-sqlite3": "13",
  pg: "8",
  signalbox,
});
const RIGHTS = ["net", "env", "sys", "read", "write", "ffi"].map((right) => `--allow-${right}`);
const hasPostgres = await hasServer(POSTGRES_PORT);

for (const runtime of others.slice(0, 2)) {
  const { name } = runtime;
  if (!runtime.ok) {
    test.skip(`${name}: ${runtime.reason}`);
    continue;
  }
  const root = join(runtime.folder, "../..");
  const line =
    name === "bun"
      ? [join(runtime.folder, "bin/bun"), "bun.ts"]
      : [join(runtime.folder, "deno"), "run", ...RIGHTS, "deno.ts"];
  const { [`${name}.ts`]: code = "" } = filesOf("docs/frameworks.md", "Bun and Deno");
  const title = `${name} ${runtime.version}: the app of the page answers replay, and ends its callbacks`;

  test(`${title}, with SQLite`, async () => {
    const folder = join(root, `${name}-sqlite`);
    write(folder, { "package.json": '{ "type": "module" }', [`${name}.ts`]: code });
    await expectOrderlyEnd(folder, await replayAgainst(folder, line));
  });

  testWith(hasPostgres)(`${title}, with PostgreSQL`, async () => {
    const url = await ownDatabase();
    const folder = join(root, `${name}-postgres`);
    const onPostgres = code
      .replace("{ sqliteStore }", "{ postgresStore }")
      .replace("signalbox/stores/sqlite", "signalbox/stores/postgres")
      .replace('sqliteStore("signals.db")', `postgresStore({ connectionString: "${url}" })`);
    write(folder, { "package.json": '{ "type": "module" }', [`${name}.ts`]: onPostgres });
    await expectOrderlyEnd(folder, await replayAgainst(folder, line), url);
  });
}
