import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { callCli } from "../../call-cli.js";
import { expectGolden, transcriptOf } from "../../golden.js";
import { outcomeOf, SECRET, startCli } from "../../run-cli.js";
import { serveProxy, serveReceiver, serveRecorder } from "../../serve-requests.js";
import { tempFiles } from "../../temp-files.js";
import { runCheck } from "./run-check.js";
import { serveProcess } from "./serve-process.js";

/** A receiver that accepts the first delivery, which is authentic: otherwise it is not checked. */
async function takingTheFirst(others: (response: ServerResponse) => unknown): Promise<string> {
  let isFirst = true;
  const { url } = await serveRecorder((_request, response) => {
    if (isFirst) response.end("{}");
    else others(response);
    isFirst = false;
  });
  return url;
}

/** What differs between two runs. */
const MASKS: readonly [RegExp, string][] = [[/"(ms|p50Ms|p99Ms|maxMs)":[\d.]+/g, '"$1":N']];

test("signalbox's own receiver passes everything, advice included", async () => {
  const { url } = await serveReceiver();
  const args = ["--strict", "--skip", "dedupe.restart"];
  const { run, failed, advice, skipped, rows } = await runCheck(url, ...args);
  expect({ failed, advice, skipped }).toEqual({ failed: [], advice: [], skipped: [] });
  expect(run).toMatchObject({ exitCode: 0, stderr: "" });
  expect(rows.length).toBeGreaterThan(25);
  expect(rows.every(({ probes }) => probes.length > 0)).toBe(true);
});

test("what is printed of receivers with a fault, and the exit code", async () => {
  const faulty = async (fault: string) => (await serveProcess("node", fault)).url;
  const lenient = `check ${await faulty("lenient-header")} --only signature.form`;
  const silent = `check ${await faulty("silent")} --only dedupe.`;
  const quoting = (response: ServerResponse) =>
    response.writeHead(500).end(`wanted a digest made with ${SECRET}`);
  const boom = (response: ServerResponse) => {
    response.setHeader("Content-Type", "text/\u009b31m").writeHead(500).end("\u001b[31mboom");
  };
  const { url: right } = await serveReceiver();
  const withoutTests = await serveProxy(right, ({ body }) =>
    /webhook\.(test|verification)/.test(body.toString()) ? 400 : {},
  );
  const { url: unparsed, requests } = await serveRecorder((_request, response) =>
    response.writeHead(500).end('{"error":{"code":"body_unavailable"}}'),
  );
  const { url: moved } = await serveRecorder((_, response) => response.writeHead(308).end());
  const text = await transcriptOf([
    {
      title: "both kinds, and of a failure what was sent, expected, came, and how to fix it",
      args: `check ${await faulty("no-signature-check")} --only signature.`,
    },
    { title: "an advice that is not followed", args: lenient },
    `${lenient} --strict`,
    { title: "no answer tells whether an event was known", args: silent },
    `${silent} --skip dedupe.a --skip dedupe.s --skip dedupe.c --strict`,
    `check ${await faulty("takes-unsigned")} --only signature.missing --only methods. --json`,
    {
      title: "times",
      args: `check ${right} --only answers.time --ack-limit 0`,
    },
    {
      title: "an answer that never comes",
      args: `check ${await takingTheFirst(() => undefined)} --only events.test --timeout 1`,
    },
    // What it says to all that is authentic ends the run at once, with the answer on stderr.
    {
      title: "a receiver that quotes its secret, always",
      args: `check ${(await serveRecorder((_, response) => void quoting(response))).url}`,
    },
    {
      title: "or after the first delivery",
      args: `check ${await takingTheFirst(quoting)} --only signature.missing`,
    },
    {
      title: "control characters",
      args: `check ${await takingTheFirst(boom)} --only events.test --only answers.json`,
    },
    { title: "the same answer to all that comes", args: `check ${unparsed}` },
    `check ${unparsed} --json`,
    `check ${moved}`,
    {
      title: "only some of what is authentic is refused",
      args: `check ${withoutTests} --only events.test --only signature.missing`,
    },
  ]);
  expect(requests).toHaveLength(6);
  expect(text).not.toContain(SECRET);
  for (const control of ["\u001b", "\u009b"]) expect(text).not.toContain(control);
  await expectGolden("check", text, MASKS);
});

test("a receiver that goes away is exit 3, after what was seen of it, and its password is not printed", async () => {
  let left = 5;
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      response.end("{}");
      left -= 1;
      if (left === 0) server.close();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const url = `http://somebody:hunter2@127.0.0.1:${port}/`;
  const run = await callCli(["check", url, "--only", "events.test", "--only", "signature."]);
  await expectGolden("check-gone", run);
  expect(run.stdout + run.stderr).not.toContain("hunter2");
});

/** Checks this receiver alone for what it knows after this command. */
const restarting = (url: string, command: string, ...others: string[]) =>
  callCli(["check", url, "--only", "dedupe.restart", "--restart-command", command, ...others]);

test("Ctrl-C ends a check with 130, and a restart command that does not end", async () => {
  const { url } = await serveReceiver();
  const folder = tempFiles();
  const [started, ended] = [join(folder, "started"), join(folder, "ended")];
  const command = `trap 'echo > "${ended}"; exit 1' TERM; echo > "${started}"; while :; do sleep 0.1; done`;
  const child = startCli(["check", url, "--only", "dedupe.restart", "--restart-command", command], {
    env: { SIGNALS_SECRET: SECRET },
  });
  const outcome = outcomeOf(child);
  await expect.poll(() => existsSync(started), { timeout: 10_000 }).toBe(true);
  child.kill("SIGINT");
  expect(await outcome).toMatchObject({ exitCode: 130, stderr: "" });
  await expect.poll(() => existsSync(ended)).toBe(true);
});

test("a restart command that fails, does not return, or from which the receiver does not come back", async () => {
  const { url } = await serveReceiver();
  const gone = join(tempFiles(), "gone");
  const front = await serveProxy(url, () => (existsSync(gone) ? 502 : {}));
  const limit = ["--restart-timeout", "1"];
  for (const [run, words] of [
    [
      await restarting(url, "echo no such service >&2; exit 4"),
      "--restart-command ended with 4: no such service",
    ],
    [
      await restarting(url, "exec sleep 600", ...limit),
      "--restart-command did not end within 1 s: it must leave the receiver running and end",
    ],
    [
      await restarting(front, `echo > '${gone}'`, ...limit),
      "the receiver did not answer within 1 s of --restart-command",
    ],
  ] as const)
    expect(run).toMatchObject({ exitCode: 3, stderr: `signalbox check: ${words}\n` });
});

test("a receiver that a restart command leaves running is not waited for", async () => {
  const { url } = await serveReceiver();
  const pid = join(tempFiles(), "pid");
  onTestFinished(() => void process.kill(Number(readFileSync(pid, "utf8"))));
  // It keeps the command's output open, as a receiver started with & does.
  const run = await restarting(url, `sleep 600 & echo $! > '${pid}'`);
  expect(run).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/ok +dedupe\.restart/),
  });
  expect(process.kill(Number(readFileSync(pid, "utf8")), 0)).toBe(true);
});
