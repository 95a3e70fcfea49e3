import { chmodSync, existsSync, readFileSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { secretFile, SIGNAL_TYPES } from "../../../src/kit/index.js";
import { nodeHandler } from "../../../src/kit/receiver/adapters/node-handler.js";
import { startReceiver } from "../../http/serve.js";
import { callCli } from "../call-cli.js";
import { expectGolden, playGolden } from "../golden.js";
import { outcomeOf, startCli } from "../run-cli.js";
import { listen, serveReceiver, serveRecorder } from "../serve-requests.js";
import { tempFiles } from "../temp-files.js";
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

const SECRETS = ["whsec_shown_once_1", "whsec_shown_once_2"];
const ONE = ["--types", "new_model"];

const registered =
  (part: object = {}): Answer =>
  (asked, number, response) =>
    answerJson(response, 201, { ...registration(number, asked), ...part });
const refused =
  (status: number, code: string): Answer =>
  (_asked, _number, response) =>
    answerJson(response, status, refusal(code, "No."));

interface Case {
  args?: readonly string[];
  answer?: (file: string) => Answer;
  files?: Record<string, string>;
  receiver?: () => Promise<string>;
}

/** What a registration prints, for each way that it can go. */
const CASES: Record<string, Case> = {
  "two types, one of them twice": {
    args: ["--types", "price_increased", "--types", " new_model ,price_increased"],
  },
  "all types": { args: ["--all-types", "--locale", "zh-CN"] },
  "all types, as NDJSON": { args: ["--all-types", "--json"] },
  "a secret file that others can read": { files: { "signals.secret": "whsec_old\n" } },
  "no types": { args: [] },
  "an empty list": { args: ["--types", ","] },
  "a type that is not one": { args: ["--types", "price_increase"] },
  "a locale that is not one": { args: [...ONE, "--locale", "de"] },
  "an address that is too long": { args: [...ONE, "--url", `http://a/${"x".repeat(2048)}`] },
  "a service without https": { args: [...ONE, "--base-url", "http://api.example/v1"] },
  "a secret file that is locked": { files: { "signals.secret.lock": "whsec_other\n" } },
  "a lock that is deleted before the answer": {
    answer: (file) => (asked, number, response) => {
      rmSync(`${file}.lock`);
      void registered()(asked, number, response);
    },
  },
  "no answer": { answer: () => (_asked, _number, response) => void response.destroy() },
  "a late answer": { args: [...ONE, "--timeout", "1"], answer: () => () => undefined },
  "a refusal, 400": { answer: () => refused(400, "INVALID_URL") },
  "a refusal, 404": { answer: () => refused(404, "NOT_FOUND") },
  "an unknown status": { answer: () => registered({ status: "on probation" }) },
  "a secret of two lines": { answer: () => registered({ signing_secret: "twice\nlines" }) },
  "429 for the second": {
    args: ["--all-types"],
    answer: () => (asked, number, response) =>
      (number === 1 ? registered() : refused(429, "RATE_LIMITED"))(asked, number, response),
  },
  "nothing listens": {
    args: [...ONE, "--timeout", "3"],
    receiver: async () => "http://127.0.0.1:9/webhooks/signals",
  },
  "a receiver with another secret": { receiver: async () => (await serveReceiver()).url },
  "a receiver with another secret, as NDJSON": {
    args: [...ONE, "--json"],
    receiver: async () => (await serveReceiver()).url,
  },
  "a receiver with another challenge": {
    receiver: async () =>
      (await serveRecorder((_, response) => answerJson(response, 200, { challenge: "same" }))).url,
  },
};

async function register({ args = ONE, answer, files = {}, receiver = serveChallenges }: Case) {
  const file = join(tempFiles(files), "signals.secret");
  if (files["signals.secret"] !== undefined) chmodSync(file, 0o644);
  const service = await serveService(answer?.(file));
  const given = ["--url", await receiver(), "--secret-file", file];
  const run = await callCli(["register", ...given, ...service.access, ...args]);
  for (const secret of [...SECRETS, API_KEY, "twice"])
    expect(run.stdout + run.stderr).not.toContain(secret);
  return { run, service, file, kept: existsSync(file) ? readFileSync(file, "utf8") : "" };
}

test("what register prints, keeps and asks for, for each way that it can go", async () => {
  let text = "";
  for (const [what, each] of Object.entries(CASES)) {
    const { run, service, file, kept } = await register(each);
    const { exitCode, stdout, stderr } = run;
    const asked = service.asked().map((one) => `${one.locale} ${one.signal_types.length} types`);
    const others = readdirSync(join(file, "..")).filter((name) => name !== "signals.secret");
    const left = [
      `exit ${exitCode}`,
      `asked: ${asked.join(", ")}`,
      `kept: ${kept.trim().split("\n").join(", ")}`,
      `beside: ${others.join(", ")}`,
    ];
    text += `# ${what}\n${stdout}${stderr}(${left.join("; ")})\n\n`;
  }
  await expectGolden("register", text, [
    [new RegExp(`lock\\.${process.pid}`, "g"), "lock.PID"],
    // On a busy machine the second is over before it can wait.
    [/^waiting up to .*\n/gm, ""],
    [/\b(ECONNRESET|socket hang up|other side closed)\b/g, "CLOSED"],
  ]);
}, 60_000);

test("each type is asked for once; what is left after a refusal can be typed", async () => {
  const whole = await register({ args: ["--all-types"] });
  expect(whole.service.asked().flatMap((asked) => asked.signal_types)).toEqual(SIGNAL_TYPES);
  expect(whole.service.requests[0]?.headers.authorization).toBe(`Bearer ${API_KEY}`);
  const { run } = await register(CASES["429 for the second"] as Case);
  const [, types = ""] = /these types alone: --types (\S+)\n/.exec(run.stderr) ?? [];
  expect(types.split(",")).toEqual(SIGNAL_TYPES.slice(30));
});

test("the key and the address come from the environment or a file", async () => {
  const { access, requests } = await serveService();
  const [, baseUrl = ""] = access;
  const dotenv = `SIGNALS_BASE_URL=${baseUrl}\nSIGNALS_API_KEY=${API_KEY}\n`;
  const folder = tempFiles({ key: `${API_KEY}\n`, dotenv });
  await playGolden("register-access", {
    BASE: baseUrl,
    KEY: API_KEY,
    RECEIVER: await serveChallenges(),
    FILE: join(folder, "signals.secret"),
    KEY_FILE: join(folder, "key"),
    DOTENV: join(folder, "dotenv"),
  });
  const keys = requests.map(({ headers }) => headers.authorization);
  expect(keys).toEqual(Array(3).fill(`Bearer ${API_KEY}`));
});

/** A registration in a process of its own that was interrupted; its answer is the caller's to send. */
async function interruptRegistering() {
  let reply = (): void => undefined;
  let tell = (): void => undefined;
  const asked = new Promise<void>((resolve) => (tell = resolve));
  const service = await serveService((...given) => {
    reply = () => void registered()(...given);
    tell();
  });
  const folder = realpathSync(tempFiles());
  const path = join(folder, "signals.secret");
  const given = ["--url", "https://hooks.example/x", "--all-types", "--secret-file", path];
  const child = startCli(["register", ...given, ...service.access]);
  onTestFinished(() => void child.kill("SIGKILL"));
  const noted = new Promise((resolve) => child.stderr?.once("data", resolve));
  const outcome = outcomeOf(child);
  await asked;
  expect(readdirSync(folder)).toEqual(["signals.secret.lock"]);
  child.kill("SIGINT");
  await noted;
  return { service, path, child, outcome, reply, beside: () => readdirSync(folder) };
}

test("an interruption waits for the answer, keeps its secret, and asks for no other", async () => {
  const { service, path, outcome, reply, beside } = await interruptRegistering();
  reply();
  const run = await outcome;
  expect(run.exitCode).toBe(130);
  expect(readFileSync(path, "utf8")).toBe(`${SECRETS[0]}\n`);
  expect(beside()).toEqual(["signals.secret"]);
  expect(run.stderr).toContain("to register the other signal types");
  expect(service.requests).toHaveLength(1);
});

test("a second Ctrl-C ends at once, and says what to look for", async () => {
  const { outcome, path, child, beside } = await interruptRegistering();
  // Soon after the first it is taken for the same one.
  const again = setInterval(() => child.kill("SIGINT"), 50);
  const run = await outcome.finally(() => clearInterval(again));
  expect(run.exitCode).toBe(130);
  expect(run.stderr).toContain("/x may be registered with a secret that is lost");
  expect(run.stderr).toContain(`After that, delete ${path}.lock\n`);
  expect(beside()).toEqual(["signals.secret.lock"]);
});

test("a verification that is posted before the secret can be stored is answered with its challenge, both times", async () => {
  const path = join(tempFiles(), "signals.secret");
  // A minute to find the secret, so that a busy machine fails no test.
  const waiting = { ackTimeoutMs: 120_000, secretWaitMs: 60_000 };
  const receiver = await startReceiver({ secrets: secretFile(path), ...waiting });
  const handle = nodeHandler(receiver);
  let tell = (): void => undefined;
  const url = await listen((request, response) => {
    // Read to its end, so that the receiver has it in hand.
    request.on("end", () => setImmediate(() => tell()));
    handle(request, response);
  });
  expect(receiver.health()).toMatchObject({ ok: true, verified: false });
  const verifications: Promise<boolean>[] = [];
  const service = await serveService(async (asked, number, response) => {
    const isThere = new Promise<void>((resolve) => (tell = resolve));
    verifications.push(postVerification(asked.url, SECRETS[number - 1] as string));
    // Only when the receiver has the verification in hand does the secret come to be known.
    await isThere;
    answerJson(response, 201, registration(number, asked));
  });
  const given = ["--url", url, "--all-types", "--secret-file", path, ...service.access];
  expect(await callCli(["register", ...given])).toMatchObject({ exitCode: 0 });
  expect(await Promise.all(verifications)).toEqual([true, true]);
  // Two of the service, and two of the command.
  const deliveries = { verified: 4, rejected: 0 };
  expect(receiver.health()).toMatchObject({ verified: true, deliveries });
  expect(readFileSync(path, "utf8")).toBe(`${SECRETS.join("\n")}\n`);
});
