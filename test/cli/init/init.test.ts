import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { refuseCrash } from "../../../src/base/sqlite/sqlite-driver.js";
import { nodesFor, planProject } from "../../../src/cli/init/plan-project.js";
import { installedFrom } from "../../../src/cli/init/signalbox-package.js";
import { TEMPLATES } from "../../../src/cli/init/templates.js";
import * as senders from "../../../src/kit/senders/index.js";
import { SENDER_NAMES } from "../../../src/kit/senders/records.js";
import { REPOSITORY } from "../../package/installed.js";
import { callCli } from "../call-cli.js";
import { expectGolden } from "../golden.js";
import { runCli } from "../run-cli.js";
import { tempFiles } from "../temp-files.js";
import { casesOf, filesIn, playInit } from "./play-init.js";

interface Made {
  directory: string;
  signalbox: string;
  files: string[];
  installed: boolean;
  nextSteps: string[];
}

/** Without what takes long: to install, and to pack this clone. */
const FILES_ONLY = ["--no-install", "--signalbox", "^1.0.0"];

async function makeNew(...args: string[]) {
  const run = await callCli(["init", join(tempFiles(), "a"), ...args, ...FILES_ONLY, "--json"]);
  expect(run).toMatchObject({ exitCode: 0, stderr: "" });
  const made = JSON.parse(run.stdout) as Made;
  return { ...made, read: (path: string) => readFileSync(join(made.directory, path), "utf8") };
}

/** What is typed, installed and run, and with which address and database. */
const SHOWN =
  /\bnpm (?!install --global)[a-z]+|\b(npx|pnpm|yarn|bunx?)\b|image:|depends_on|DATABASE_URL|schema: |publicUrl|"(name|signalbox|pg|send)":|real events/;

test("what init prints and writes, in each of its ways", async () => {
  const text = await playInit(casesOf("init-runs.json"), SHOWN, /Dockerfile$|ignore$/);
  expect(text).not.toMatch(/(?!\n)[\p{Cc}\u{e0041}]/u);
  await expectGolden("init", text, [[/node:\d\d-/g, "node:N-"]]);
});

test("each receiver has a secret of its own, in files that git, Docker and other users of the machine do not take", async () => {
  for (const [args, file, pattern] of [
    [[], "signals.secret", /^(whsec_local_\w{20,})\n$/],
    [["--sender", "stripe"], ".env", /^STRIPE_WEBHOOK_SECRET=(whsec_[\w+/]{32})$/m],
  ] as const) {
    const [one, two] = [await makeNew(...args), await makeNew(...args)];
    const secret = pattern.exec(one.read(file))?.[1] ?? "none";
    expect(one.files.filter((path) => one.read(path).includes(secret))).toEqual([file]);
    expect(two.read(file)).not.toContain(secret);
    for (const path of [".gitignore", ".dockerignore"]) {
      expect(one.read(path)).toMatch(/^\*\.secret\*?$/m);
      expect(one.read(path)).toMatch(/^\.env$/m);
    }
    if (process.platform === "win32") continue;
    for (const path of [".env", file])
      expect(statSync(join(one.directory, path)).mode & 0o077).toBe(0);
  }
});

const OF_SIGNALS = ["express", "bullmq", "hono", "express postgres", "bullmq postgres"];
const STARTERS = [
  ...OF_SIGNALS,
  ...SENDER_NAMES.flatMap((name) => [`express sqlite ${name}`, `hono postgres ${name}`]),
];

/** What brings the events of a sender to the port of the receiver. */
const FORWARDS: Readonly<Record<string, string>> = {
  stripe: "stripe listen --forward-to localhost:${port}/webhooks/stripe",
  github: "--url=http://localhost:${port}/webhooks/github --secret=",
};

const UNFILLED = /\{\{\w|\b__\w+__\b|signal-receiver|^\W*(if|end) \w+\W*$/m;
const OF_A_SENDER = /signalbox\/senders|onEvent|WEBHOOK_SECRET/;
const OF_THE_SERVICE = /(?<!NodeJS\.)\bsignals?\b|onSignal|SIGNALS?_|SECRET_FILE|emulator/i;
const OF_SQLITE = /(?<!better-)sqlite(?!3)|INBOX_PATH|signals\.db/i;

test.each(STARTERS)("all names are its own, and no mark is left: %s", async (starter) => {
  const [template = "", store = "sqlite", sender] = starter.split(" ");
  const ofSender = sender === undefined ? [] : ["--sender", sender];
  const { files, read } = await makeNew("--template", template, "--store", store, ...ofSender);
  const foreign = [UNFILLED, sender === undefined ? OF_A_SENDER : OF_THE_SERVICE];
  if (store === "postgres") foreign.push(OF_SQLITE);
  if (sender !== "stripe" && sender !== undefined) foreign.push(/stripe/i);
  expect(files.filter((path) => foreign.some((each) => each.test(read(path))))).toEqual([]);
  if (sender === undefined) return;
  const main = read("src/main.ts");
  const [, factory = "", given, endpoint] =
    /^ {4}sender: (\w+)\((.*)\),\n {4}endpoint: "(.+)",$/m.exec(main) ?? [];
  expect([endpoint, factory.toLowerCase()]).toEqual([sender, sender.replace("-", "")]);
  expect(senders).toHaveProperty(factory);
  expect(main).toContain(`import { ${factory} } from "signalbox/senders";`);
  const readme = read("README.md");
  for (const text of [read("src/app.ts"), read("test/receiver.test.ts"), readme])
    expect(text).toContain(`/webhooks/${sender}`);
  const forward = FORWARDS[sender] ?? `https://YOUR.TUNNEL/webhooks/${sender} at`;
  expect(read("src/dev.ts")).toContain(forward);
  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  expect(scripts["dev"]).toMatch(/ --dev$/);
  expect(scripts["send"]).toMatch(
    new RegExp(
      `^signalbox send --sender ${sender} .*--url http://localhost:3000/webhooks/${sender}$`,
    ),
  );
  // Without it the command would look for another endpoint's events.
  const commands = ["ls", "retry"].map((name) => `inbox ${name} --endpoint ${sender}`);
  expect(readme.match(/inbox (?:ls|retry) --endpoint \S+/g)).toEqual(commands);
  // Each variable that the code reads is checked, listed, explained and set.
  const code = files.map(read).join("\n");
  const used = code.matchAll(/config\.(\w*(?:WEBHOOK_SECRET|URL|TOKEN))/g);
  const names = new Set([...used].map(([, name = ""]) => name));
  if (store === "postgres") names.delete("DATABASE_URL");
  expect(names.size).toBe(given === "" ? 1 : 2);
  for (const name of names) {
    expect(read("src/config.ts")).toContain(`  ${name}: z.string(`);
    expect(readme).toContain(`| \`${name}\``);
    for (const path of [".env.example", ".env"])
      expect(read(path)).toMatch(new RegExp(`^${name}=${path === ".env" ? "\\S+$" : ""}`, "m"));
  }
});

/** The lines of a compose file's service. */
const serviceIn = (compose: string, name: string): string =>
  new RegExp(`^  ${name}:\\n((?:    .*\\n|\\n)+)`, "m").exec(compose)?.[1] ?? "";

test("in containers the worker gets the variables that it reads, and no signing secret", async () => {
  const { read } = await makeNew("--template", "bullmq");
  const [, both = "", own = ""] =
    /VARIABLES = [^\n]*\n([^]*?)\/\/ Of the receiver[^]*\/\/ Of the worker[^\n]*\n([^]*?)\n\}\);/.exec(
      read("src/config.ts"),
    ) ?? [];
  const names = [...`${both}\n${own}`.matchAll(/^ {2}([A-Z_]+):/gm)].map(([, name]) => name);
  expect(names).toHaveLength(3);
  const service = serviceIn(read("compose.yaml"), "worker");
  const passed = [...service.matchAll(/^ {6}([A-Z_]+):/gm)].map(([, name]) => name);
  expect(new Set(passed)).toEqual(new Set(names));
  expect(service).not.toMatch(/env_file|SECRET|volumes/);
  expect(serviceIn(read("compose.yaml"), "receiver")).toMatch(/env_file:\n +- path: \.env$/m);
});

test.each([
  ["README.md", "mine.md"],
  ["src", "folder"],
])("--force writes through no link, and then all is as it was: %s", async (name, target) => {
  const mine = { "mine.md": "mine", "folder/main.ts": "mine" };
  const elsewhere = tempFiles(mine);
  const folder = tempFiles({ "compose.yaml": "mine" });
  symlinkSync(join(elsewhere, target), join(folder, name));
  const { exitCode, stderr } = await callCli(["init", folder, "--force", ...FILES_ONLY]);
  expect(exitCode).toBe(3);
  expect(stderr).toMatch(/ link.*\); all changes were undone\n$/);
  expect(readdirSync(folder).sort()).toEqual([name, "compose.yaml"].sort());
  expect(readlinkSync(join(folder, name))).toBe(join(elsewhere, target));
  expect(readFileSync(join(folder, "compose.yaml"), "utf8")).toBe("mine");
  const left = filesIn(elsewhere).map((path) => [
    path,
    readFileSync(join(elsewhere, path), "utf8"),
  ]);
  expect(Object.fromEntries(left)).toEqual(mine);
});

test("each package manager is told which packages may be built, and on Node 20 takes a driver that works there", async () => {
  let text = "";
  for (const packageManager of ["npm", "pnpm", "yarn", "bun"] as const) {
    for (const nodeMajor of [20, 22]) {
      const choices = { directory: "/x", store: "sqlite", sender: undefined } as const;
      const how = { packageManager, signalbox: "^1.0.0", hasCopy: false };
      const { files } = planProject(TEMPLATES[0], { ...choices, ...how }, nodeMajor);
      text += `# ${packageManager}, Node ${nodeMajor}\n`;
      for (const { path, content } of files)
        if (/^(package\.json|pnpm-workspace\.yaml|\.yarnrc\.yml)$/.test(path)) text += content;
    }
  }
  await expectGolden("init-package-managers", text);
});

test("CI and the image have versions of Node that run the driver in the lock file, whichever Node wrote that", async () => {
  for (const [nodeMajor, locked] of [
    [20, "12.9.0"],
    [22, "13.2.0"],
    [24, "13.2.0"],
  ] as const) {
    for (const node of nodesFor(nodeMajor)) refuseCrash(locked, `${node}.0.0`);
  }
  const { read } = await makeNew();
  const [older, newer] = nodesFor(Number.parseInt(process.versions.node));
  const images = read("Dockerfile").match(/(?<=^FROM ).+?(?= |$)/gm);
  expect(images).toEqual([`node:${newer}-bookworm`, `node:${newer}-bookworm-slim`]);
  expect(read(".github/workflows/ci.yml")).toContain(`node: ["${older}", "${newer}"]`);
});

test("the next steps can be typed, whatever the path is", async () => {
  const cwd = tempFiles();
  const { stdout } = await runCli(["init", "it's here", ...FILES_ONLY], { cwd });
  const [, line = ""] = /^ {2}\$ (cd .*)$/m.exec(stdout) ?? [];
  const there = execFileSync("sh", ["-c", `${line} && pwd -P`], { cwd, encoding: "utf8" });
  expect(there.trimEnd()).toBe(join(cwd, "it's here"));
  const inIt = { cwd: there.trimEnd() };
  const again = await runCli(["init", ".", "--force", ...FILES_ONLY], inIt);
  expect([again.exitCode, again.stdout.includes("cd ")]).toEqual([0, false]);
});

test("the receiver has a packed copy of the signalbox that made it, which Docker and CI can read", async () => {
  const folder = join(tempFiles(), "a");
  const run = await callCli(["init", folder, "--no-install", "--json"]);
  const copy = (JSON.parse(run.stdout) as Made).signalbox.replace("file:", "");
  expect(copy).toMatch(/^vendor\/signalbox-.*\.tgz$/);
  expect(statSync(join(folder, copy)).size).toBeGreaterThan(100_000);
});

test("where an installed signalbox came from is what npm noted", () => {
  const cameFrom = (resolved?: string): string | null => {
    const packages = { "node_modules/signalbox": { version: "1.0.0", resolved } };
    const folder = tempFiles({ "node_modules/.package-lock.json": JSON.stringify({ packages }) });
    return installedFrom(join(folder, "node_modules", "signalbox"))?.replace(folder, "") ?? null;
  };
  expect(cameFrom("file:packed/signalbox-1.0.0.tgz")).toBe("/packed/signalbox-1.0.0.tgz");
  const git = "git+ssh://git@host.example/signalbox.git#1234";
  expect(cameFrom(git)).toBe(git);
  expect(cameFrom("https://registry.example/signalbox-1.0.0.tgz")).toBe(null);
  // npm can be told to leave it out, and other package managers note nothing there.
  expect(cameFrom()).toBe(null);
  expect(installedFrom(join(tempFiles(), "node_modules", "signalbox"))).toBe(null);
});

test("the templates ask for the versions that this package is tested with", () => {
  type Manifest = Partial<
    Record<"engines" | "dependencies" | "devDependencies", Record<string, string | null>>
  >;
  const manifestIn = (...path: string[]) =>
    JSON.parse(readFileSync(join(REPOSITORY, ...path, "package.json"), "utf8")) as Manifest;
  const own = manifestIn();
  const tested = { ...own.dependencies, ...own.devDependencies };
  const given = ["express", "bullmq", "hono"].flatMap((template) => {
    const { dependencies, devDependencies } = manifestIn("templates", template);
    return Object.entries({ ...dependencies, ...devDependencies });
  });
  // Null: the layer removes it.
  const shared = given.filter(([name, range]) => name in tested && range !== null);
  expect(shared).toEqual(shared.map(([name]) => [name, tested[name]]));
  expect(shared.length).toBeGreaterThan(5);
  expect(manifestIn("templates", "express").engines).toEqual(own.engines);
});
