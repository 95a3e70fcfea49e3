import { spawnSync } from "node:child_process";
import fs, {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { basename, dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { LOCALES } from "../../../src/service/contract/locale.js";
import { openSecretWriter } from "../../../src/cli/service/register/secret-writer.js";
import { secretFile, SIGNAL_TYPES, type Receiver } from "../../../src/kit/index.js";
import { nodeHandler } from "../../../src/kit/receiver/adapters/node-handler.js";
import { canMount, smallDisk } from "../../faults/disk/small-disk.js";
import { startReceiver } from "../../http/serve.js";
import { callCli } from "../call-cli.js";
import { ndjson, outcomeOf, runCli, startCli, type CliRun } from "../run-cli.js";
import { listen } from "../serve-requests.js";
import {
  answerJson,
  type Answer,
  API_KEY,
  postVerification,
  refusal,
  registration,
  serveChallenges,
  serveService,
} from "./serve-service.js";
import { tempFiles } from "../temp-files.js";
import { testWith } from "../../prerequisites.js";

const URL_OF_RECEIVER = "https://hooks.example/webhooks/signals";
const SECRETS = ["whsec_shown_once_1", "whsec_shown_once_2"];

const ONE = ["--types", "new_model"];

/** Registers a receiver with secrets in this file. No output may hold a secret. */
async function registerInto(
  path: string,
  { access }: { access: string[] },
  args: readonly string[] = ONE,
) {
  const url = await serveChallenges();
  const run = await callCli(["register", "--url", url, "--secret-file", path, ...access, ...args]);
  expectNoSecretIn(run);
  return { ...run, url };
}

/** Registers with secrets in a new file, or in one with this text and mode. */
async function register(
  args: readonly string[],
  service: { access: string[] },
  file?: { text: string; mode: number },
) {
  const path = join(tempFiles(), "signals.secret");
  if (file !== undefined) {
    writeFileSync(path, file.text);
    chmodSync(path, file.mode);
  }
  const run = await registerInto(path, service, args);
  const secrets = existsSync(path) ? readFileSync(path, "utf8") : null;
  return {
    ...run,
    path,
    secrets,
    mode: () => statSync(path).mode & 0o777,
    beside: readdirSync(dirname(path)),
  };
}

function expectNoSecretIn({ stdout, stderr }: Pick<CliRun, "stdout" | "stderr">): void {
  for (const secret of [...SECRETS, API_KEY]) expect(stdout + stderr).not.toContain(secret);
}

test("one registration: its secret is in the file, its id and status are printed", async () => {
  const service = await serveService();
  const run = await register(
    ["--types", "price_increased,new_model", "--types", " price_increased ,"],
    service,
  );
  expect(run).toMatchObject({ exitCode: 0, secrets: `${SECRETS[0]}\n` });
  expect(run.lines[0]).toBe("wh_1  pending  2 signal types");
  expect(run.stderr).toBe(`the secret of wh_1 is in ${run.path}\n`);
  expect(run.mode()).toBe(0o600);
  expect(run.beside).toEqual(["signals.secret"]);
  expect(service.asked()).toEqual([
    { url: run.url, locale: "en", signal_types: ["price_increased", "new_model"] },
  ]);
  expect(service.requests[0]?.headers.authorization).toBe(`Bearer ${API_KEY}`);
});

test("all types are two registrations of at most 30, each with a secret of its own", async () => {
  const service = await serveService();
  const run = await register(["--all-types", "--locale", "zh-CN", "--json"], service);
  expect(run).toMatchObject({ exitCode: 0, secrets: `${SECRETS.join("\n")}\n` });
  expect(service.asked().map(({ locale, signal_types }) => [locale, signal_types.length])).toEqual([
    ["zh-CN", 30],
    ["zh-CN", 8],
  ]);
  expect(service.asked().flatMap(({ signal_types }) => signal_types)).toEqual(SIGNAL_TYPES);
  const rows = ndjson(run);
  expect(rows).toMatchObject([
    { id: "wh_1", status: "pending", url: run.url, secret_file: run.path },
    { id: "wh_2", status: "pending", url: run.url, secret_file: run.path },
    {
      summary: {
        ok: true,
        registrations: ["wh_1", "wh_2"],
        status: "unknown",
        found: null,
        fix: null,
      },
    },
  ]);
});

test.each([
  ["without a line end", "whsec_old", 0o600, "whsec_old\nwhsec_shown_once_1\n", 0o600],
  ["that its group may read", "whsec_old\n", 0o640, "whsec_old\nwhsec_shown_once_1\n", 0o640],
  ["that others could read", "whsec_old\n", 0o644, "whsec_old\nwhsec_shown_once_1\n", 0o600],
  [
    "that holds the secret",
    "whsec_shown_once_1\nwhsec_old",
    0o600,
    "whsec_shown_once_1\nwhsec_old",
    0o600,
  ],
  [
    "whose secrets look like settings",
    "WHSEC==\nwhsec_a=b\n",
    0o600,
    "WHSEC==\nwhsec_a=b\nwhsec_shown_once_1\n",
    0o600,
  ],
])("what a file holds stays: one %s", async (_what, text, mode, secrets, newMode) => {
  const run = await register(ONE, await serveService(), { text, mode });
  expect(run).toMatchObject({ exitCode: 0, secrets });
  expect(run.mode()).toBe(newMode);
  expect(/its mode is 0600 now/.test(run.stderr)).toBe(mode === 0o644);
});

/** Adds a secret to a file as a user who is in these groups beside its own. */
const AS_USER = `
  import { openSecretWriter } from ${JSON.stringify(new URL("../../../dist/cli/service/register/secret-writer.js", import.meta.url).href)};
  const [path, user, own, ...groups] = process.argv.slice(1);
  process.setgroups(groups.map(Number));
  process.setgid(Number(own));
  process.setuid(Number(user));
  const writer = openSecretWriter(path);
  writer.add("whsec_new");
  writer.close();
`;

test.skipIf(process.getuid?.() !== 0)(
  "the group of a file keeps its right to read, and no other group gets one (needs root)",
  () => {
    const folder = tempFiles({ "signals.secret": "whsec_old\n" });
    const path = join(folder, "signals.secret");
    const [user, own, theirs] = [12_345, 23_456, 34_567];
    chownSync(folder, user, own);
    chownSync(path, user, theirs);
    chmodSync(path, 0o640);
    chmodSync(folder, 0o755);
    const write = (groups: number[]): string => {
      const args = [
        "--input-type=module",
        "--eval",
        AS_USER,
        path,
        ...[user, own, ...groups].map(String),
      ];
      return spawnSync(process.execPath, args, { encoding: "utf8" }).stderr;
    };
    const seen = () => [
      statSync(path).gid,
      statSync(path).mode & 0o777,
      readFileSync(path, "utf8"),
    ];
    expect(write([])).toMatch(/a group that you are not in/);
    expect(seen()).toEqual([theirs, 0o640, "whsec_old\n"]);
    expect(readdirSync(folder)).toEqual(["signals.secret"]);
    expect(write([theirs])).toBe("");
    expect(seen()).toEqual([theirs, 0o640, "whsec_old\nwhsec_new\n"]);
  },
);

const WRONG: readonly (readonly [args: readonly string[], says: RegExp])[] = [
  [[], /--all-types, or --types price_increased/],
  [["--types", ","], /--types is empty/],
  [["--types", "price_increase"], /did you mean price_increased\?/],
  [["--all-types", "--locale", "de"], new RegExp(`Allowed choices are ${LOCALES.join(", ")};`)],
  [["--all-types", "--url", `https://hooks.example/${"x".repeat(2048)}`], /url/],
  [
    ["--all-types", "--base-url", "http://api.example/v1"],
    /^signalbox register: --base-url: expected https; /,
  ],
];

test.each(WRONG)(
  "what makes no sense is refused before anything is asked: %j",
  async (args, says) => {
    const service = await serveService();
    const run = await register(args, service);
    expect(run).toMatchObject({ exitCode: 2, stdout: "", secrets: null, beside: [] });
    expect(run.stderr).toMatch(says);
    expect(run.stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(service.requests).toEqual([]);
  },
);

test("the key and the address come from the environment or a file", async () => {
  const { access, requests } = await serveService();
  const [, baseUrl = ""] = access;
  const dotenv = `SIGNALS_BASE_URL=${baseUrl}\nSIGNALS_API_KEY=${API_KEY}\n`;
  const folder = tempFiles({ key: `${API_KEY}\n`, dotenv });
  const into = [
    "register",
    "--url",
    await serveChallenges(),
    ...ONE,
    "--secret-file",
    join(folder, "signals.secret"),
  ];
  const command = (...args: string[]) => [...into, ...args];
  const env = { SIGNALS_BASE_URL: baseUrl, SIGNALS_API_KEY: API_KEY };
  expect(await callCli(command(), { env })).toMatchObject({ exitCode: 0 });
  const file = ["--api-key-file", join(folder, "key"), "--base-url", baseUrl];
  expect(await callCli(command(...file))).toMatchObject({ exitCode: 0 });
  expect(await callCli(command("--dotenv", join(folder, "dotenv")))).toMatchObject({ exitCode: 0 });
  expect(requests.map(({ headers }) => headers.authorization)).toEqual(
    Array(3).fill(`Bearer ${API_KEY}`),
  );

  const missing: readonly (readonly [string[], Record<string, string>, number, RegExp])[] = [
    [command(), { SIGNALS_API_KEY: API_KEY }, 2, /no address of the service: set SIGNALS_BASE_URL/],
    [command(), { SIGNALS_BASE_URL: baseUrl }, 2, /no API key: set SIGNALS_API_KEY/],
  ];
  for (const [args, variables, exitCode, says] of missing) {
    const run = await callCli(args, { env: variables });
    expect([run.exitCode, run.stderr]).toEqual([exitCode, expect.stringMatching(says)]);
  }
  expect(requests).toHaveLength(3);
});

const withFile = (name: string, text: string) => (folder: string) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name.replace(/\.lock$/, ""));
};
const withLink = (target: string) => (folder: string) => {
  writeFileSync(join(folder, "signals.secret"), "whsec_old\n");
  symlinkSync(target, join(folder, "link"));
  return join(folder, "link");
};

const UNWRITABLE: readonly (readonly [
  what: string,
  make: (folder: string) => string,
  says: RegExp,
])[] = [
  [
    "no such folder",
    (folder) => join(folder, "none", "signals.secret"),
    /its folder does not exist/,
  ],
  ["a folder", (folder) => folder, /not a regular file/],
  ["too large", withFile("large", "x\n".repeat(40_000)), /too large for a file of secrets/],
  ["a link", withLink("signals.secret"), /link is a link/],
  [
    "a system file",
    withFile("passwd", "root:x:0:0:root:/root:/bin/bash\n"),
    /line 1 of .* is not a secret/,
  ],
  [
    "settings",
    withFile(".env", "whsec_old\n\nSIGNALS_SECRET=whsec_x\n"),
    /line 3 of .*\.env is not a secret/,
  ],
  [
    "locked",
    withFile("signals.secret.lock", "whsec_other\n"),
    /signals\.secret\.lock exists: another registration/,
  ],
];

test.each(UNWRITABLE)(
  "where no secret can be kept nothing is registered: %s",
  async (_what, make, says) => {
    const service = await serveService();
    const folder = tempFiles();
    const path = make(folder);
    const before = readdirSync(folder);
    const run = await registerInto(path, service);
    expect(run).toMatchObject({ exitCode: 3, stdout: "" });
    expect(run.stderr).toMatch(says);
    expect(run.stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(service.requests).toEqual([]);
    expect(readdirSync(folder)).toEqual(before);
  },
);

test("the first is registered and the second refused: what stands is kept, and the rest can be typed", async () => {
  const service = await serveService((asked, number, response) => {
    const isFirst = number === 1 || asked.signal_types.length < 8;
    if (isFirst) return answerJson(response, 201, registration(number, asked));
    answerJson(response, 429, refusal("RATE_LIMITED", "Ten registrations a day."));
  });
  const run = await register(["--all-types"], service);
  expect(run).toMatchObject({
    exitCode: 3,
    stdout: "wh_1  pending  30 signal types\n",
    secrets: `${SECRETS[0]}\n`,
  });
  expect(run.beside).toEqual(["signals.secret"]);
  const [stands, line = "", error] = run.stderr.trimEnd().split("\n");
  expect(stands).toBe(
    `the secret of wh_1 is in ${run.path}; to register the other signal types, type`,
  );
  expect(error).toMatch(
    /^signalbox register: .*429 RATE_LIMITED, Ten registrations a day \(request req_of_the_test\)/,
  );
  // One try: a person who waits for an answer can try again.
  expect(service.requests).toHaveLength(2);

  // What it says to type is what is left.
  const again = await serveService((asked, _number, response) =>
    answerJson(response, 201, registration(2, asked)),
  );
  const types =
    /^the same command with these types alone: (--types \S+)$/.exec(line)?.[1]?.split(" ") ?? [];
  expect(await registerInto(run.path, again, types)).toMatchObject({ exitCode: 0 });
  expect(again.asked().map(({ signal_types }) => signal_types)).toEqual([SIGNAL_TYPES.slice(30)]);
  expect(readFileSync(run.path, "utf8")).toBe(`${SECRETS.join("\n")}\n`);
});

const registered =
  (part: object): Answer =>
  (asked, number, response) =>
    answerJson(response, 201, { ...registration(number, asked), ...part });
const refused =
  (status: number, code: string): Answer =>
  (_asked, _number, response) =>
    answerJson(response, status, refusal(code, "No."));

test.each<[what: string, answer: Answer, exitCode: number, secrets: string | null, says: RegExp]>([
  [
    "none",
    (_asked, _number, response) => void response.destroy(),
    3,
    null,
    /may nevertheless be registered/,
  ],
  ["late", () => undefined, 3, null, /had no answer after 1000 ms/],
  [
    "400",
    refused(400, "INVALID_URL"),
    2,
    null,
    /400 INVALID_URL.*req_of_the_test(?!.*lack its prefix).*\n$/,
  ],
  [
    "404",
    refused(404, "NOT_FOUND"),
    3,
    null,
    /404 NOT_FOUND.*; does --base-url lack its prefix, such as \/v1\?\n$/,
  ],
  [
    "another status",
    registered({ status: "on probation" }),
    3,
    `${SECRETS[0]}\n`,
    /its secret is in .*signals\.secret/,
  ],
  // A secret that is no line cannot be kept.
  [
    "two lines",
    registered({ signing_secret: "twice\nlines" }),
    3,
    null,
    /wh_1 is registered, but its secret is lost/,
  ],
])(
  "what is no registration is said once, and a secret in it is kept: %s",
  async (_what, answer, exitCode, secrets, says) => {
    const service = await serveService(answer);
    const run = await register([...ONE, "--timeout", "1"], service);
    expect(run).toMatchObject({
      exitCode,
      stdout: "",
      secrets,
      beside: secrets === null ? [] : ["signals.secret"],
    });
    expect(run.stderr).toMatch(says);
    expect(run.stderr).not.toContain("twice");
    expect(service.requests).toHaveLength(1);
  },
);

/** Registers, while something happens to the file before the service answers. */
async function registerWhile(happens: (path: string) => void, text?: string) {
  const path = join(
    tempFiles(text === undefined ? {} : { "signals.secret": text }),
    "signals.secret",
  );
  const service = await serveService((asked, number, response) => {
    happens(path);
    answerJson(response, 201, registration(number, asked));
  });
  const run = await registerInto(path, service);
  return { run, path, beside: readdirSync(dirname(path)) };
}

test("what a user writes into the file while the service is asked stays", async () => {
  const edited = "whsec_old\nwhsec_by_hand";
  const { run, path, beside } = await registerWhile((file) => {
    writeFileSync(file, edited);
    chmodSync(file, 0o640);
  }, "whsec_older\nwhsec_old\n");
  expect(run.exitCode).toBe(0);
  expect(readFileSync(path, "utf8")).toBe(`${edited}\n${SECRETS[0]}\n`);
  expect(statSync(path).mode & 0o777).toBe(0o640);
  expect(beside).toEqual(["signals.secret"]);
});

test.each<[what: string, happens: (file: string) => void, place: string, beside: string[]]>([
  // The name that was free before the call is a folder now.
  ["that the file cannot take any more", (file) => mkdirSync(file), "lock", ["signals.secret"]],
  ["whose lock was deleted", (file) => rmSync(`${file}.lock`), `lock.${process.pid}`, []],
  ["whose lock was replaced", replaceLock, `lock.${process.pid}`, ["signals.secret.lock"]],
])(
  "a secret %s is in a file that the error names, which replaces no other",
  async (_what, happens, ending, others) => {
    const { run, path, beside } = await registerWhile(happens);
    const place = `${path}.${ending}`;
    expect(run).toMatchObject({ exitCode: 3, stdout: "" });
    expect(run.stderr).toMatch(/wh_1 is registered, but /);
    expect(run.stderr).toContain(
      `Its secret is in ${place}: add the secret to ${path}, and delete ${place}\n`,
    );
    expect(beside).toEqual([...others, basename(place)]);
    expect(readFileSync(place, "utf8")).toBe(`${SECRETS[0]}\n`);
    expect(statSync(place).mode & 0o777).toBe(0o600);
    if (happens === replaceLock) expect(readFileSync(`${path}.lock`, "utf8")).toBe("of another");
  },
);

function replaceLock(file: string): void {
  rmSync(`${file}.lock`);
  writeFileSync(`${file}.lock`, "of another");
}

/**
 * The syncs and renames of `act`. A sync is listed with what the file held then, or as "folder".
 */
function recordSyncs(file: string, act: () => void): string[] {
  const calls: string[] = [];
  const { fsyncSync, renameSync } = fs;
  fs.fsyncSync = (descriptor) => {
    calls.push(fs.fstatSync(descriptor).isDirectory() ? "folder" : readFileSync(file, "utf8"));
    fsyncSync(descriptor);
  };
  fs.renameSync = (from, to) => {
    calls.push("rename");
    renameSync(from, to);
  };
  syncBuiltinESMExports();
  try {
    act();
  } finally {
    Object.assign(fs, { fsyncSync, renameSync });
    syncBuiltinESMExports();
  }
  return calls;
}

test("a secret is synced before its file gets the name, and the name after that", () => {
  const path = join(tempFiles({ "signals.secret": "whsec_old\n" }), "signals.secret");
  const writer = openSecretWriter(path);
  expect(recordSyncs(writer.lock, () => writer.add("whsec_new"))).toEqual([
    "whsec_old\nwhsec_new\n",
    "rename",
    "folder",
  ]);
});

testWith(canMount)("on a full disk nothing is registered (needs a disk of its own)", async () => {
  const { folder, fill } = smallDisk(1);
  const service = await serveService();
  fill();
  const path = join(folder, "signals.secret");
  const run = await registerInto(path, service);
  expect(run).toMatchObject({ exitCode: 3, stdout: "" });
  expect(run.stderr).toMatch(/cannot write the secret file .* \(ENOSPC\)/);
  expect(service.requests).toEqual([]);
  expect(existsSync(`${path}.lock`)).toBe(false);
});

testWith(canMount)(
  "a disk that is full by the time of the answer has room for the secret",
  async () => {
    const { folder, fill } = smallDisk(1);
    const service = await serveService((asked, number, response) => {
      fill();
      answerJson(response, 201, registration(number, asked));
    });
    const path = join(folder, "signals.secret");
    expect(await registerInto(path, service)).toMatchObject({ exitCode: 0 });
    expect(readFileSync(path, "utf8")).toBe(`${SECRETS[0]}\n`);
  },
);

/** A registration in a process of its own, whose answer is the caller's to send. */
async function startRegistering() {
  let reply = (): void => undefined;
  let tell = (): void => undefined;
  const asked = new Promise<void>((resolve) => (tell = resolve));
  const service = await serveService((registering, number, response) => {
    reply = () => answerJson(response, 201, registration(number, registering));
    tell();
  });
  const folder = realpathSync(tempFiles());
  const path = join(folder, "signals.secret");
  const lock = `${path}.lock`;
  const given = ["register", "--url", URL_OF_RECEIVER, "--all-types", "--secret-file", path];
  const child = startCli([...given, ...service.access]);
  onTestFinished(() => void child.kill("SIGKILL"));
  const noted = new Promise((resolve) => child.stderr?.once("data", resolve));
  const outcome = outcomeOf(child);
  await asked;
  expect(existsSync(lock)).toBe(true);
  child.kill("SIGINT");
  await noted;
  return {
    service,
    path,
    lock,
    child,
    outcome,
    reply: () => reply(),
    beside: () => readdirSync(folder),
  };
}

test("an interruption waits for the answer, keeps its secret, and asks for no other", async () => {
  const { service, path, outcome, reply, beside } = await startRegistering();
  reply();
  const run = await outcome;
  expect(run.exitCode).toBe(130);
  expect(readFileSync(path, "utf8")).toBe(`${SECRETS[0]}\n`);
  expect(beside()).toEqual(["signals.secret"]);
  expect(run.stderr).toContain("to register the other signal types");
  expect(service.requests).toHaveLength(1);
});

test("a second Ctrl-C ends at once, and says what to look for", async () => {
  const { outcome, lock, child, beside } = await startRegistering();
  // Soon after the first it is taken for the same one.
  const again = setInterval(() => child.kill("SIGINT"), 50);
  const run = await outcome.finally(() => clearInterval(again));
  expect(run.exitCode).toBe(130);
  expect(run.stderr).toContain(`${URL_OF_RECEIVER} may be registered with a secret that is lost`);
  expect(run.stderr).toContain(`After that, delete ${lock}\n`);
  expect(beside()).toEqual(["signals.secret.lock"]);
});

/**
 * A receiver whose deliveries have a minute to find their secret, so that a busy machine fails no
 * test.
 */
async function serveWaiting(
  path: string,
): Promise<{ receiver: Receiver; url: string; arrived: () => Promise<void> }> {
  const receiver = await startReceiver({
    secrets: secretFile(path),
    ackTimeoutMs: 120_000,
    secretWaitMs: 60_000,
  });
  const handle = nodeHandler(receiver);
  let tell = (): void => undefined;
  const url = await listen((request, response) => {
    // Read to its end, so that the receiver has it in hand.
    request.on("end", () => setImmediate(() => tell()));
    handle(request, response);
  });
  return { receiver, url, arrived: () => new Promise((resolve) => (tell = resolve)) };
}

test("a verification that is posted before the secret can be stored is answered with its challenge, both times", async () => {
  const path = join(tempFiles(), "signals.secret");
  const { receiver, url, arrived } = await serveWaiting(path);
  expect(receiver.health()).toMatchObject({ ok: true, verified: false });
  const verifications: Promise<boolean>[] = [];
  const service = await serveService(async (asked, number, response) => {
    const made = registration(number, asked);
    const isThere = arrived();
    verifications.push(postVerification(asked.url, String(made["signing_secret"])));
    // Only when the receiver has the verification in hand does the secret come to be known.
    await isThere;
    answerJson(response, 201, made);
  });
  const run = await runCli([
    "register",
    "--url",
    url,
    "--all-types",
    "--secret-file",
    path,
    ...service.access,
  ]);
  expect(run).toMatchObject({ exitCode: 0 });
  expect(await Promise.all(verifications)).toEqual([true, true]);
  // Two of the service, and two of the command.
  expect(receiver.health()).toMatchObject({
    verified: true,
    deliveries: { verified: 4, rejected: 0 },
  });
  expect(readFileSync(path, "utf8")).toBe(`${SECRETS.join("\n")}\n`);
});
