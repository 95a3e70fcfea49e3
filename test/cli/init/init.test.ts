import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import { loadDriver } from "../../../src/base/sqlite/sqlite-driver.js";
import { nodesFor, planProject } from "../../../src/cli/init/plan-project.js";
import { installedFrom } from "../../../src/cli/init/signalbox-package.js";
import { TEMPLATES } from "../../../src/cli/init/templates.js";
import * as senders from "../../../src/kit/senders/index.js";
import { SENDER_NAMES } from "../../../src/kit/senders/records.js";
import { REPOSITORY } from "../../package/installed.js";
import { callCli } from "../call-cli.js";
import { outcomeOf, runCli, startCli } from "../run-cli.js";
import { tempFiles } from "../temp-files.js";

interface Made {
  template: string;
  directory: string;
  name: string;
  packageManager: string;
  signalbox: string;
  files: string[];
  replaced: string[];
  git: boolean;
  installed: boolean;
  notes: string[];
  needs: { what: string; command: string } | null;
  nextSteps: string[];
  alongside: string[];
}

/** The files alone, so that nothing has to be installed. */
const FILES_ONLY = ["--no-install"];

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
const jsonIn = <Content = Record<string, unknown>>(...path: string[]): Content =>
  JSON.parse(readFileSync(join(...path), "utf8")) as Content;

async function make(args: readonly string[], env: Record<string, string> = {}) {
  // To pack this clone takes seconds.
  const version = args.includes("--signalbox") ? [] : ["--signalbox", "^1.0.0"];
  const run = await callCli(["init", ...args, ...version, ...FILES_ONLY, "--json"], { env });
  expect(run).toMatchObject({ exitCode: 0, stderr: "" });
  expect(run.lines).toHaveLength(1);
  const made = JSON.parse(run.stdout) as Made;
  return { ...made, read: (path: string) => readFileSync(join(made.directory, path), "utf8") };
}

/** Makes it in a new folder. */
const makeNew = (...args: string[]) => make([join(tempFiles(), "a"), ...args]);

test("--json is one document that lists what was written, and stdout has nothing else", async () => {
  const folder = tempFiles();
  const directory = join(folder, "my-receiver");
  const made = await make([directory, "--signalbox", "^9.8.7"]);
  expect(made).toMatchObject({
    template: "express",
    directory,
    name: "my-receiver",
    packageManager: "npm",
    signalbox: "^9.8.7",
    replaced: [],
    git: false,
    installed: false,
    nextSteps: [expect.stringMatching(/^cd .*my-receiver$/), "npm install", "npm run dev"],
  });
  expect(made.files).toEqual(filesIn(directory));
  const some = [
    ".gitignore",
    ".env",
    ".github/workflows/ci.yml",
    "Dockerfile",
    "compose.yaml",
    "src/main.ts",
  ];
  expect(made.files).toEqual(expect.arrayContaining(some));
  expect(made.files.filter((path) => path.includes("_gitignore"))).toEqual([]);
  expect(existsSync(join(directory, ".git"))).toBe(false);
  expect(jsonIn(directory, "package.json")).toMatchObject({
    name: "my-receiver",
    dependencies: { signalbox: "^9.8.7" },
    allowScripts: { "better-sqlite3": true },
  });
});

test("each receiver gets a secret of its own, in a file that git, Docker and other users of the machine do not take", async () => {
  const [one, two] = [await makeNew(), await makeNew()];
  expect(one.read("signals.secret")).toMatch(/^whsec_local_\w{20,}\n$/);
  expect(one.read("signals.secret")).not.toBe(two.read("signals.secret"));
  for (const file of [".gitignore", ".dockerignore"])
    expect(one.read(file)).toMatch(/^\*\.secret\*?$/m);
  expect(one.read(".gitignore")).toMatch(/^\.env$/m);
  expect(one.read(".env")).toBe(one.read(".env.example"));
  if (process.platform === "win32") return;
  for (const name of [".env", "signals.secret"])
    expect(statSync(join(one.directory, name)).mode & 0o077).toBe(0);
});

test("nothing of a template is left unfilled", async () => {
  const unfilled = /\{\{\w|\b__\w+__\b|signal-receiver|^\W*(if|end) \w+\W*$/m;
  for (const starter of [
    "express",
    "bullmq",
    "hono",
    "express --store postgres",
    "bullmq --store postgres",
  ]) {
    const { files, read } = await makeNew("--template", ...starter.split(" "));
    expect(files.filter((path) => unfilled.test(read(path)))).toEqual([]);
    // Only `--sender` writes these.
    expect(
      files.filter((path) => /signalbox\/senders|onEvent|WEBHOOK_SECRET/.test(read(path))),
    ).toEqual([]);
  }
});

const SENDER_STARTERS = SENDER_NAMES.flatMap((sender) => [
  [sender, "express", "sqlite"],
  [sender, "hono", "postgres"],
]);

test.each(SENDER_STARTERS)(
  "--sender %s, with %s and %s: all names are of the sender, and nothing is left of the service's signals",
  async (sender, template, store) => {
    const { files, read } = await makeNew(
      "--sender",
      sender,
      "--template",
      template,
      "--store",
      store,
    );
    const foreign =
      /(?<!NodeJS\.)\bsignals?\b|onSignal|SIGNALS?_|SECRET_FILE|emulator|\{\{\w|\b__\w+__\b|^\W*(if|end) \w+\W*$/im;
    const left = files.filter(
      (path) => foreign.test(read(path)) || (sender !== "stripe" && /stripe/i.test(read(path))),
    );
    expect(left).toEqual([]);
    expect(files).not.toContain("src/on-signal.ts");
    const all = files.map(read).join("\n");
    const main = read("src/main.ts");
    const [, factory = "", given, endpoint] =
      /^ {4}sender: (\w+)\((.*)\),\n {4}endpoint: "(.+)",$/m.exec(main) ?? [];
    expect(endpoint).toBe(sender);
    expect(factory.toLowerCase()).toBe(sender.replace("-", ""));
    expect(senders).toHaveProperty(factory);
    expect(main).toContain(`import { ${factory} } from "signalbox/senders";`);
    for (const path of ["src/app.ts", "test/receiver.test.ts", "README.md"]) {
      expect(read(path)).toContain(`/webhooks/${sender}`);
    }
    // Without it the command would look for another endpoint's events.
    expect(read("README.md").match(/inbox (?:ls|retry) --endpoint \S+/g)).toEqual([
      `inbox ls --endpoint ${sender}`,
      `inbox retry --endpoint ${sender}`,
    ]);
    expect(read("README.md")).toMatch(/\]\(https:\/\/[^)]+\), add\n`https:/);
    // Each variable that the code reads is checked, listed, explained and set.
    const used = new Set(
      [...all.matchAll(/config\.(\w*(?:WEBHOOK_SECRET|URL|TOKEN))/g)].map(([, name = ""]) => name),
    );
    expect(used.size).toBe(given === "" ? 1 : 2);
    for (const name of used) {
      expect(read("src/config.ts")).toContain(`  ${name}: z.string(`);
      expect(read(".env.example")).toMatch(new RegExp(`^${name}=`, "m"));
      expect(read("README.md")).toContain(`| \`${name}\``);
      expect(read(".env")).toMatch(new RegExp(`^${name}=\\S+$`, "m"));
    }
  },
);

test("the made-up secret of a starter for a sender is in its private .env alone", async () => {
  const [one, two] = [await makeNew("--sender", "stripe"), await makeNew("--sender", "stripe")];
  const secret = /^STRIPE_WEBHOOK_SECRET=(whsec_[\w+/]{32})$/m.exec(one.read(".env"))?.[1] ?? "";
  expect(secret).not.toBe("");
  for (const { files, read } of [one, two]) {
    expect(files.filter((path) => read(path).includes(secret))).toEqual(
      read === one.read ? [".env"] : [],
    );
  }
  expect(one.files).not.toContain("signals.secret");
  if (process.platform !== "win32")
    expect(statSync(join(one.directory, ".env")).mode & 0o077).toBe(0);
});

test.each(["express", "bullmq"])(
  "%s --store postgres has its inbox in PostgreSQL, its image needs no compiler, and nothing is said of SQLite",
  async (template) => {
    const args = [join(tempFiles(), "my-app.2"), "--template", template, "--store", "postgres"];
    const { directory, files, needs, read } = await make(args);
    const left = files.filter((path) =>
      /(?<!better-)sqlite(?!3)|INBOX_PATH|signals\.db/i.test(read(path)),
    );
    expect(left).toEqual([]);
    expect(read("src/store.ts")).toContain('schema: "signalbox_my_app_2"');
    for (const path of [".env.example", "compose.yaml", "README.md"])
      expect(read(path)).toContain("DATABASE_URL");
    expect(jsonIn(directory, "package.json")).toMatchObject({
      dependencies: { pg: expect.any(String) },
    });
    expect(serviceIn(read("compose.yaml"), "postgres")).toContain("image: postgres:");
    expect(serviceIn(read("compose.yaml"), "receiver")).toMatch(/depends_on:\n +postgres:\n/);
    expect(read("Dockerfile").match(/^FROM .*|--omit=\w+/gm)).toEqual([
      expect.stringMatching(/-slim AS build$/),
      "--omit=optional",
      "--omit=dev",
      "--omit=optional",
      expect.stringMatching(/-slim$/),
    ]);
    expect(needs).toMatchObject({ command: expect.stringContaining("postgres:17") });
  },
);

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

test.each(["npm", "pnpm"])(
  "what the Dockerfile copies is there, with %s",
  async (packageManager) => {
    const { files, read } = await makeNew("--package-manager", packageManager);
    const lines = read("Dockerfile").split("\n");
    const lockFiles = new Set(["package-lock.json", "pnpm-lock.yaml"]);
    const copied = lines.flatMap(
      (line) => /^COPY (?!--from)(.+) \S+$/.exec(line)?.[1]?.split(" ") ?? [],
    );
    const isThere = (name: string): boolean =>
      files.some((path) => path === name || path.startsWith(`${name}/`));
    expect(
      copied.filter((name) => !lockFiles.has(name) && !isThere(name.replace("./", ""))),
    ).toEqual([]);
    expect(copied.filter((name) => lockFiles.has(name))).toHaveLength(1);
    const ignored = read(".dockerignore").split("\n");
    expect(copied.filter((name) => ignored.includes(name))).toEqual([]);
    // A secret is in no layer, nobody is root, and Node itself gets the signals.
    expect(ignored).toContain(".env");
    expect(lines.filter((line) => /^(USER|CMD|VOLUME)/.test(line))).toEqual([
      "VOLUME /data",
      "USER node",
      'CMD ["node", "dist/main.js"]',
    ]);
    expect(isThere("src/main.ts")).toBe(true);
  },
);

const WRONG: readonly (readonly [args: readonly string[], says: RegExp])[] = [
  [[], /name the new folder/],
  [["a", "--template", "fastify"], /'fastify' is invalid. Allowed choices are express, bullmq/],
  [
    ["a", "--sender", "carrier-pigeon"],
    /'carrier-pigeon' is invalid. Allowed choices are .*stripe/,
  ],
  [
    ["a", "--sender", "stripe", "--template", "bullmq"],
    /--sender does not work with --template bullmq/,
  ],
  [["a", "--package-manager", "cargo"], /Allowed choices are npm, pnpm, yarn, bun/],
  [
    ["a", "--signalbox", "./no-such.tgz"],
    /--signalbox \.\/no-such\.tgz: there is no such tarball or folder/,
  ],
  [["package.json"], /package\.json is a file: name a folder/],
  [["src"], /src is not empty: name another folder, or give --force/],
];

test.each(WRONG)(
  "wrong use is one line that says what to type, and writes nothing: %j",
  async (args, says) => {
    const before = filesIn(join(REPOSITORY, "src"));
    const run = await callCli(["init", ...args, ...FILES_ONLY]);
    expect(run).toMatchObject({ exitCode: 2, stdout: "" });
    expect(run.stderr).toMatch(says);
    expect(run.stderr).toMatch(/^signalbox init: .+\n$/);
    expect(filesIn(join(REPOSITORY, "src"))).toEqual(before);
    expect(existsSync(join(REPOSITORY, "a"))).toBe(false);
  },
);

test("bullmq: what it needs, and the worker, are among the steps", async () => {
  const made = await makeNew("--template", "bullmq", "--package-manager", "pnpm");
  expect(made.needs).toMatchObject({
    what: expect.stringContaining("Redis"),
    command: expect.stringMatching(/^docker /),
  });
  expect(made.alongside).toEqual(["pnpm run dev:worker"]);
  expect(await makeNew()).toMatchObject({ needs: null, alongside: [] });
});

test("a folder with only a repository counts as empty", async () => {
  expect((await make([tempFiles({ ".git/HEAD": "ref: refs/heads/main\n" })])).files).toContain(
    "package.json",
  );
});

test("--force replaces files of the same name, says which, and touches no other and no secret", async () => {
  const mine = {
    "README.md": "mine",
    "notes.txt": "mine",
    ".env": "KEY=mine\n",
    "signals.secret": "whsec_mine\n",
  };
  const folder = tempFiles(mine);
  const { files, replaced, notes } = await make([folder, "--force"]);
  expect(replaced).toEqual(["README.md"]);
  expect(files).not.toContain(".env");
  expect(notes).toEqual(expect.arrayContaining(["kept your .env", "kept your signals.secret"]));
  expect(readFileSync(join(folder, "README.md"), "utf8")).not.toBe("mine");
  expect(readFileSync(join(folder, "notes.txt"), "utf8")).toBe("mine");
  for (const name of [".env", "signals.secret"] as const) {
    expect(readFileSync(join(folder, name), "utf8")).toBe(mine[name]);
  }
});

test.each([
  ["README.md", "mine.md"],
  ["src", "folder"],
  // Where the template has a folder there is a file, which comes late in the order of paths.
  ["test", null],
])(
  "--force writes through no link, and all is as it was when a file cannot be written: %s",
  async (name, target) => {
    const elsewhere = tempFiles({ "mine.md": "mine", "folder/main.ts": "mine" });
    const folder = tempFiles({
      "compose.yaml": "mine",
      ...(target === null && { [name]: "a file" }),
    });
    if (target !== null) symlinkSync(join(elsewhere, target), join(folder, name));
    const run = await callCli(["init", folder, "--force", ...FILES_ONLY]);
    expect(run).toMatchObject({ exitCode: 3, stdout: "" });
    expect(run.stderr).toMatch(
      /^signalbox init: cannot write .* \(.+\); all changes were undone\n$/,
    );
    expect(readdirSync(folder).sort()).toEqual([name, "compose.yaml"].sort());
    if (target !== null) expect(readlinkSync(join(folder, name))).toBe(join(elsewhere, target));
    expect(readFileSync(join(folder, "compose.yaml"), "utf8")).toBe("mine");
    expect(filesIn(elsewhere)).toEqual(["folder/main.ts", "mine.md"]);
    for (const path of filesIn(elsewhere))
      expect(readFileSync(join(elsewhere, path), "utf8")).toBe("mine");
  },
);

const NAMES = [
  ["My Receiver", "my-receiver"],
  ["__", "signal-receiver"],
  ["express", "express-receiver"],
] as const;

test.each(NAMES)("the folder %j makes the package %s", async (folder, name) => {
  const made = await make([join(tempFiles(), folder)]);
  expect(made.name).toBe(name);
});

test("the package manager is the calling one, unless another is named", async () => {
  const env = { npm_config_user_agent: "pnpm/10.4.0 npm/? node/v22.1.0 linux x64" };
  const made = await make([join(tempFiles(), "a")], env);
  expect([made.packageManager, made.nextSteps[1]]).toEqual(["pnpm", "pnpm install"]);
  const other = await make([join(tempFiles(), "a"), "--package-manager", "npm"], env);
  expect(other.packageManager).toBe("npm");
});

test.each(["pnpm", "yarn", "bun"])(
  "for %s every command is its own, and it has only files that work with it",
  async (name) => {
    const { files, nextSteps, read } = await makeNew(
      "--store",
      "postgres",
      "--package-manager",
      name,
    );
    expect(nextSteps).toContain(`${name} run dev`);
    const isForMachines = name === "pnpm";
    for (const path of ["Dockerfile", "compose.yaml", ".github/workflows/ci.yml"]) {
      expect(files.includes(path)).toBe(isForMachines);
    }
    expect(read("README.md").includes("docker")).toBe(isForMachines);
    for (const path of files.filter((each) => /README\.md$|Dockerfile$|ci\.yml$/.test(each))) {
      expect(
        read(path).match(/\bnpm (?!install --global)[a-z]+.*|\bnpx .*|package-lock.*|--omit=.*/g),
        path,
      ).toBe(null);
    }
  },
);

/** A text of the project that is planned for this package manager under this Node. */
function planned(packageManager: "npm" | "pnpm" | "yarn" | "bun", nodeMajor: number) {
  const choices = { directory: "/x", store: "sqlite", sender: undefined } as const;
  const how = { packageManager, signalbox: "^1.0.0", hasCopy: false };
  const { files } = planProject(TEMPLATES[0], { ...choices, ...how }, nodeMajor);
  return (name: string) => String(files.find(({ path }) => path === name)?.content);
}

test("each package manager is told which packages may be built, and on Node 20 takes a driver that works there", () => {
  const manifest = (name: "npm" | "yarn" | "bun", nodeMajor: number) =>
    JSON.parse(planned(name, nodeMajor)("package.json")) as Record<string, unknown>;
  const pins = { "better-sqlite3": "^12.11.1" };
  const allowScripts = { "better-sqlite3": true, esbuild: false };
  expect(manifest("npm", 20)).toMatchObject({ allowScripts });
  expect(manifest("npm", 20)).not.toHaveProperty("overrides");
  expect(manifest("bun", 20)).toMatchObject({
    trustedDependencies: ["better-sqlite3"],
    overrides: pins,
  });
  const dependenciesMeta = { "better-sqlite3": { built: true }, esbuild: { built: false } };
  expect(manifest("yarn", 20)).toMatchObject({ dependenciesMeta, resolutions: pins });
  expect(planned("yarn", 20)(".yarnrc.yml")).toContain("nodeLinker");
  for (const name of ["yarn", "bun"] as const) {
    expect(Object.keys(manifest(name, 22))).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/allowScripts|overrides|resolutions/)]),
    );
  }
  const settings = planned("pnpm", 20)("pnpm-workspace.yaml");
  expect(settings).toMatch(/^allowBuilds:\n {2}better-sqlite3: true\n {2}esbuild: false\n/m);
  expect(settings).toContain("overrides:\n  better-sqlite3: ^12.11.1\n");
  expect(planned("pnpm", 22)("pnpm-workspace.yaml")).not.toContain("12.11");
});

test("CI and the image have versions of Node that run the driver in the lock file, whichever Node wrote that", async () => {
  for (const [nodeMajor, locked] of [
    [20, "12.11.1"],
    [22, "13.2.0"],
    [24, "13.2.0"],
  ] as const) {
    for (const node of nodesFor(nodeMajor)) {
      expect(
        loadDriver({ driver: locked, node: `${node}.0.0` }),
        `${locked} on ${node}`,
      ).toBeTypeOf("function");
    }
  }
  const { read } = await makeNew();
  const [older, newer] = nodesFor(Number.parseInt(process.versions.node));
  const images = read("Dockerfile").match(/(?<=^FROM ).+?(?= |$)/gm);
  expect(images).toEqual([`node:${newer}-bookworm`, `node:${newer}-bookworm-slim`]);
  expect(read(".github/workflows/ci.yml")).toContain(`node: ["${older}", "${newer}"]`);
});

test("the next steps can be typed, whatever the path is", async () => {
  const folder = tempFiles();
  const directory = join(folder, "it's here");
  const { exitCode, stdout } = await runCli(["init", "it's here", ...FILES_ONLY], { cwd: folder });
  expect(exitCode).toBe(0);
  const [, line = ""] = /^ {2}\$ (cd .*)$/m.exec(stdout) ?? [];
  expect(
    execFileSync("sh", ["-c", `${line} && pwd -P`], { cwd: folder, encoding: "utf8" }).trimEnd(),
  ).toBe(directory);
  const { stdout: inIt } = await runCli(["init", ".", "--force", ...FILES_ONLY], {
    cwd: directory,
  });
  expect(inIt).not.toContain("cd ");
});

test("a folder whose name steers a terminal is shown, not obeyed", async () => {
  const folder = join(tempFiles(), "a\u001b[2J\u{e0041}");
  const run = await callCli(["init", folder, ...FILES_ONLY]);
  expect(run.exitCode).toBe(0);
  expect(run.stdout).toContain(String.raw`a\u001b[2J\udb40\udc41`);
  expect(run.stdout + run.stderr).not.toMatch(/(?!\n)[\p{Cc}\u{e0041}]/u);
});

/** A program of this name that notes its arguments, ahead of any other. */
function stubs(programs: Readonly<Record<string, string>>): {
  env: Record<string, string>;
  said: () => string;
} {
  const files = Object.entries(programs).map(([name, script]) => [name, `#!/bin/sh\n${script}\n`]);
  const bin = tempFiles(Object.fromEntries(files) as Record<string, string>);
  for (const name of Object.keys(programs)) chmodSync(join(bin, name), 0o755);
  const log = join(bin, "log");
  writeFileSync(log, "");
  return {
    env: { PATH: `${bin}${delimiter}${process.env["PATH"]}`, LOG: log },
    said: () => readFileSync(log, "utf8"),
  };
}

const NOTE = 'echo "$(basename "$0") $* in $(basename "$PWD")" >> "$LOG"; echo chatter';

test("it installs with the package manager, whose words are not on stdout, and touches no git", async () => {
  const folder = tempFiles();
  const { env, said } = stubs({ pnpm: NOTE, git: NOTE });
  const args = ["init", join(folder, "x"), "--package-manager", "pnpm", "--json", "--no-git"];
  const run = await runCli([...args, "--signalbox", "^1.0.0"], { env });
  expect(run.exitCode).toBe(0);
  expect(said()).toBe("pnpm install in x\n");
  const made = JSON.parse(run.stdout) as Made;
  expect(made).toMatchObject({ git: false, installed: true });
  expect(made.nextSteps).not.toContain("pnpm install");
  expect(run.stderr).toContain("chatter");
});

test("an install that fails, and one without the package manager: the files are there, and it says what to do", async () => {
  const folder = tempFiles();
  const { env } = stubs({ npm: "echo broken; exit 1" });
  const failed = await runCli(["init", "x", "--signalbox", "^1.0.0"], {
    cwd: folder,
    env,
  });
  expect(failed).toMatchObject({
    exitCode: 3,
    stdout: expect.stringContaining("  $ npm install\n"),
  });
  expect(failed.stderr).toMatch(
    /dependencies were not installed: `npm install` failed; run `npm install` in /,
  );
  expect(statSync(join(folder, "x", "package.json")).isFile()).toBe(true);

  const args = ["init", "y", "--signalbox", "^1.0.0", "--package-manager", "bun"];
  const missing = await runCli(args, { cwd: folder, env: { PATH: tempFiles() } });
  expect(missing).toMatchObject({
    exitCode: 3,
    stderr: expect.stringContaining("not installed: bun was not found; run `bun install` in "),
  });
});

test("the receiver has a packed copy of the signalbox that made it, which Docker and CI can read", async () => {
  const folder = tempFiles();
  const { stdout } = await callCli(["init", join(folder, "a"), ...FILES_ONLY, "--json"]);
  const made = JSON.parse(stdout) as Made;
  const [copy = ""] = readdirSync(join(folder, "a", "vendor"));
  expect(made.signalbox).toBe(`file:vendor/${copy}`);
  expect(made.files).toContain(`vendor/${copy}`);
  expect(copy).toMatch(/^signalbox-.*\.tgz$/);
  expect(statSync(join(folder, "a", "vendor", copy)).size).toBeGreaterThan(100_000);
  expect(readFileSync(join(folder, "a", "Dockerfile"), "utf8")).toMatch(
    /COPY vendor \.\/vendor\nRUN npm ci\n/,
  );
  writeFileSync(join(folder, "signalbox-9.tgz"), "packed");
  const given = await make([join(folder, "c"), "--signalbox", join(folder, "signalbox-9.tgz")]);
  const [packed = ""] = readdirSync(join(folder, "c", "vendor"));
  expect([given.signalbox, given.read(`vendor/${packed}`)]).toEqual([
    `file:vendor/${packed}`,
    "packed",
  ]);
  expect(packed).toMatch(/^signalbox-9-[0-9a-f]{8}\.tgz$/);
  mkdirSync(join(folder, "b"));
  const broken = await callCli([
    "init",
    join(folder, "d"),
    ...FILES_ONLY,
    "--signalbox",
    join(folder, "b"),
  ]);
  expect(broken).toMatchObject({
    exitCode: 3,
    stderr: expect.stringContaining("give --signalbox a tarball") as string,
  });
});

test("where an installed signalbox came from is what npm noted", () => {
  const cameFrom = (resolved?: string): string | null => {
    const packages = { "node_modules/signalbox": { version: "1.0.0", resolved } };
    const folder = tempFiles({
      "node_modules/signalbox/package.json": "{}",
      "node_modules/.package-lock.json": JSON.stringify({ packages }),
    });
    return installedFrom(join(folder, "node_modules", "signalbox"))?.replace(folder, "") ?? null;
  };
  expect(cameFrom("file:packed/signalbox-1.0.0.tgz")).toBe("/packed/signalbox-1.0.0.tgz");
  expect(cameFrom("git+ssh://git@host.example/signalbox.git#1234")).toBe(
    "git+ssh://git@host.example/signalbox.git#1234",
  );
  expect(cameFrom("https://registry.example/signalbox-1.0.0.tgz")).toBe(null);
  // npm can be told to leave it out, and other package managers note nothing there.
  expect(cameFrom()).toBe(null);
  expect(installedFrom(join(tempFiles(), "node_modules", "signalbox"))).toBe(null);
});

test("Ctrl-C while it installs is 130, and says what is there and what is not", async () => {
  const folder = tempFiles();
  const { env } = stubs({ npm: "echo started; exec sleep 60" });
  const child = startCli(["init", "x", "--signalbox", "^1.0.0"], { cwd: folder, env });
  const isStarted = new Promise<void>((resolve) => {
    child.stderr?.on("data", (chunk: Buffer) => {
      if (chunk.toString().includes("started")) resolve();
    });
  });
  const outcome = outcomeOf(child);
  await isStarted;
  child.kill("SIGINT");
  const { exitCode, stderr } = await outcome;
  expect(exitCode).toBe(130);
  expect(stderr).toMatch(/dependencies were not installed: interrupted; run `npm install` in /);
});

test("the templates ask for the versions that this package is tested with", () => {
  interface Manifest {
    engines?: Record<string, string>;
    dependencies: Record<string, string | null>;
    devDependencies?: Record<string, string | null>;
  }
  const own = jsonIn<Manifest>(REPOSITORY, "package.json");
  const tested = { ...own.dependencies, ...own.devDependencies };
  for (const template of ["express", "bullmq", "hono"]) {
    const { dependencies, devDependencies = {} } = jsonIn<Manifest>(
      REPOSITORY,
      "templates",
      template,
      "package.json",
    );
    for (const [name, range] of Object.entries({ ...dependencies, ...devDependencies })) {
      // Null: the layer removes it.
      if (name !== "signalbox" && name in tested && range !== null)
        expect(`${name}@${range}`).toBe(`${name}@${tested[name]}`);
    }
  }
  expect(jsonIn<Manifest>(REPOSITORY, "templates", "express", "package.json").engines).toEqual(
    own.engines,
  );
});
