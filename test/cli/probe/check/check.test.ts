import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { callCli } from "../../call-cli.js";
import { ndjson, outcomeOf, SECRET, startCli } from "../../run-cli.js";
import { listen, serveProxy, serveReceiver, serveRecorder } from "../../serve-requests.js";
import { tempFiles } from "../../temp-files.js";
import { runCheck } from "./run-check.js";
import { serveProcess } from "./serve-process.js";

/** Accepts the first delivery, which is authentic: a receiver that accepts none is not checked. */
function takingTheFirst(
  others: (response: ServerResponse) => void,
): Parameters<typeof serveRecorder>[0] {
  let isFirst = true;
  return (_request, response) => {
    if (isFirst) response.end("{}");
    else others(response);
    isFirst = false;
  };
}

const fetching = (url: string): string =>
  `"${process.execPath}" -e 'fetch("${url}").then(async (answer) => console.log(await answer.text()))'`;

test("signalbox's own receiver passes everything, advice included", async () => {
  const { url } = await serveReceiver();
  const { run, failed, advice, skipped, rows } = await runCheck(
    url,
    "--strict",
    "--skip",
    "dedupe.restart",
  );
  expect({ failed, advice, skipped }).toEqual({ failed: [], advice: [], skipped: [] });
  expect(run).toMatchObject({ exitCode: 0, stderr: "" });
  expect(rows.length).toBeGreaterThan(25);
  expect(rows.every(({ probes }) => probes.length > 0)).toBe(true);
});

test("an advice that is not followed is exit 1 with --strict alone", async () => {
  const { url } = await serveProcess("node", "lenient-header");
  const args = ["--only", "signature.form"];
  expect((await runCheck(url, ...args)).run.exitCode).toBe(0);
  expect((await runCheck(url, ...args, "--strict")).run.exitCode).toBe(1);
});

test("the text shows both kinds apart, and of a failure what was sent, expected, came, and how to fix it", async () => {
  const { url } = await serveProcess("node", "no-signature-check");
  const run = await callCli(["check", url, "--only", "signature."]);
  expect(run.exitCode).toBe(1);
  expect(run.stderr).toBe("");
  const { lines } = run;
  expect(lines.filter((line) => /^[A-Z]/.test(line)).map((line) => line.split(" ")[0])).toEqual([
    "REQUIRED",
    "ADVISED",
  ]);
  const at = lines.findIndex((line) => line.includes("FAILED"));
  expect(lines.slice(at, at + 5)).toEqual([
    expect.stringMatching(/^ {2}FAILED +signature\.forged +A signature /),
    "      probe     wrong-secret",
    "      sent      POST signals/price_increased, signed with another secret",
    "      expected  4xx",
    '      actual    200 {"received":true}',
  ]);
  expect(run.stdout).toMatch(/\n +and +\d more: .*emptied/);
  expect(run.stdout).toMatch(/\n +fix +Compute HMAC-SHA256/);
  expect(run.stdout).toMatch(/\n +skipped +signature\.raw-bytes .*\n +why +.*signature\.forged/);
  expect(run.stdout).toMatch(/\n +advice +signature\.form /);
  expect(lines.slice(-2)).toEqual([
    "not proved: signature.unreadable, signature.raw-bytes",
    "required: 1 passed, 1 failed, 2 skipped; advised: 0 passed, 1 not followed, 0 skipped",
  ]);
});

test("times of acknowledgements are told, and judged against --ack-limit", async () => {
  const { url } = await serveReceiver();
  const { rows, advice, summary } = await runCheck(
    url,
    "--only",
    "answers.time",
    "--ack-limit",
    "0",
  );
  expect(advice).toEqual(["answers.time"]);
  expect(rows[0]?.note).toMatch(/^20 acknowledgements: median \d/);
  const times = summary.acknowledgements;
  expect(times?.count).toBe(20);
  expect(times?.p50Ms).toBeLessThanOrEqual(times?.p99Ms ?? 0);
  expect(times?.p99Ms).toBeLessThanOrEqual(times?.maxMs ?? 0);
});

test("an answer that never comes is a failure, not a wait without end", async () => {
  const { url } = await serveRecorder(takingTheFirst(() => undefined));
  const { failed, rows } = await runCheck(url, "--only", "events.test", "--timeout", "1");
  expect(failed).toEqual(["events.test"]);
  expect(rows[0]?.probes[0]).toMatchObject({ actual: "no answer (timeout)", ok: false });
});

test("the NDJSON has an object for each check and a summary, and nothing else is on stdout", async () => {
  const { url } = await serveProcess("node", "takes-unsigned");
  const run = await callCli([
    "check",
    url,
    "--json",
    "--only",
    "signature.missing",
    "--only",
    "methods.",
  ]);
  expect(run).toMatchObject({ exitCode: 1, stderr: "" });
  const [missing, methods, last] = ndjson(run);
  expect(missing).toMatchObject({
    id: "signature.missing",
    kind: "required",
    outcome: "failed",
    hint: expect.stringContaining("401"),
    probes: [
      {
        name: "signature-missing",
        sent: "POST signals/price_increased, no signature",
        expected: "4xx",
        actual: '200 {"received":true}',
        ok: false,
      },
      { name: "signature-missing-not-json", ok: false },
    ],
  });
  expect(methods).toMatchObject({ id: "methods.other", kind: "advised", outcome: "passed" });
  expect(last).toEqual({
    summary: {
      ok: false,
      complete: true,
      strict: false,
      required: { passed: 0, failed: 1, skipped: 0 },
      advised: { passed: 1, failed: 0, skipped: 0 },
      skipped: [],
      acknowledgements: expect.objectContaining({ count: 2 }),
      clockOffsetMs: 0,
    },
  });
});

// What it says to all that is authentic ends the run at once, with the answer on stderr.
test.each(["to all", "to all but one"])(
  "no secret is printed, even where the receiver quotes it %s",
  async (to) => {
    const quote = (response: ServerResponse): void => {
      response.writeHead(500).end(`wanted a digest made with ${SECRET}`);
    };
    for (const args of [[], ["--json"]]) {
      const answer =
        to === "to all"
          ? (_request: unknown, response: ServerResponse) => quote(response)
          : takingTheFirst(quote);
      const { url } = await serveRecorder(answer);
      const run = await callCli(["check", url, ...args]);
      expect(run.exitCode).toBe(1);
      expect(run.stdout + run.stderr).toContain("500 wanted a digest made with [the secret]");
      expect(run.stdout + run.stderr).not.toContain(SECRET);
    }
  },
);

test("what a receiver answers cannot steer the terminal", async () => {
  const boom = (response: ServerResponse): void => {
    response.setHeader("Content-Type", "text/\u009b31m").writeHead(500).end("\u001b[31mboom");
  };
  const { url } = await serveRecorder(takingTheFirst(boom));
  const run = await callCli(["check", url, "--only", "events.test", "--only", "answers.json"]);
  expect(run.stdout).toContain("500 \\u001b[31mboom");
  expect(run.stdout).toContain("Content-Type: text/\\u009b31m");
  for (const control of ["\u001b", "\u009b"]) expect(run.stdout).not.toContain(control);
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
  expect(run.exitCode).toBe(3);
  expect(run.stdout).toMatch(/FAILED +signature\.missing/);
  expect(run.lines.at(-1)).toMatch(/^not finished; required: 1 passed, 1 failed, 0 skipped; /);
  expect(run.stderr).toMatch(
    new RegExp(`^signalbox check: .* http://127.0.0.1:${port}/ \\(ECONNREFUSED\\)`),
  );
});

test("Ctrl-C ends a check with 130, and a restart command that does not end", async () => {
  const { url } = await serveReceiver();
  const folder = tempFiles();
  const [started, ended] = [join(folder, "started"), join(folder, "ended")];
  let arrived = (): void => undefined;
  const arrival = new Promise<void>((resolve) => (arrived = resolve));
  const control = await listen(() => arrived());
  const command = `trap 'echo > "${ended}"; exit 1' TERM; echo > "${started}"; ${fetching(control)}`;
  const child = startCli(["check", url, "--only", "dedupe.restart", "--restart-command", command], {
    env: { SIGNALS_SECRET: SECRET },
  });
  const outcome = outcomeOf(child);
  await arrival;
  child.kill("SIGINT");
  expect(await outcome).toMatchObject({ exitCode: 130, stderr: "" });
  await expect.poll(() => existsSync(ended)).toBe(true);
  expect(existsSync(started)).toBe(true);
});

test.each([
  ["fails", "echo no such service >&2; exit 4", "--restart-command ended with 4: no such service"],
  ["does not return", "exec sleep 600", "--restart-command did not end within 1 s"],
])("a restart command that %s is exit 3 with one line", async (_what, command, words) => {
  const { url } = await serveReceiver();
  const args = ["--only", "dedupe.", "--restart-command", command, "--restart-timeout", "1"];
  const run = await callCli(["check", url, ...args]);
  expect(run.exitCode).toBe(3);
  const [last] = run.stderr.trimEnd().split("\n").slice(-1);
  expect(last).toContain(`signalbox check: ${words}`);
  // What came before is not lost.
  expect(run.stdout).toContain("dedupe.simultaneous");
});

test("a receiver that does not come back from its restart is exit 3", async () => {
  const { url } = await serveReceiver();
  const gone = join(tempFiles(), "gone");
  const front = await serveProxy(url, () => (existsSync(gone) ? 502 : {}));
  const args = [
    "--only",
    "dedupe.restart",
    "--restart-command",
    `echo > '${gone}'`,
    "--restart-timeout",
    "1",
  ];
  const run = await callCli(["check", front, ...args]);
  expect(run).toMatchObject({ exitCode: 3, stdout: "" });
  expect(run.stderr).toMatch(/^signalbox check: .* 1 s of --restart-command\n$/);
});

test("a receiver that a restart command leaves running is not waited for", async () => {
  const { url } = await serveReceiver();
  const pid = join(tempFiles(), "pid");
  onTestFinished(() => void process.kill(Number(readFileSync(pid, "utf8"))));
  // It keeps the command's output open, as a receiver started with & does.
  const command = `sleep 600 & echo $! > '${pid}'`;
  const run = await callCli([
    "check",
    url,
    "--only",
    "dedupe.restart",
    "--restart-command",
    command,
  ]);
  expect(run.exitCode).toBe(0);
  expect(run.stdout).toMatch(/ok +dedupe\.restart/);
  expect(process.kill(Number(readFileSync(pid, "utf8")), 0)).toBe(true);
});

test("where no answer tells, nothing is concluded but from the status: it is named at the end, and exit 1 with --strict", async () => {
  const { url } = await serveProcess("node", "silent");
  const notProved = ["dedupe.once", "dedupe.restart"];
  const { run, failed, skipped, rows, summary } = await runCheck(url, "--only", "dedupe.");
  expect({ failed, skipped }).toEqual({ failed: [], skipped: notProved });
  expect(
    rows.find(({ id }) => id === "dedupe.simultaneous")?.probes.map(({ name }) => name),
  ).toEqual(["acknowledged"]);
  expect(summary).toMatchObject({ ok: true, complete: true, skipped: notProved });
  expect(run.exitCode).toBe(0);
  const strict = await callCli([
    "check",
    url,
    "--only",
    "dedupe.o",
    "--only",
    "dedupe.r",
    "--strict",
  ]);
  expect(strict.exitCode).toBe(1);
  expect(strict.lines).toContain("not proved: dedupe.once, dedupe.restart");
});

test.each([
  [500, '{"error":{"code":"body_unavailable"}}', "500 body_unavailable"],
  [308, "", "308"],
])(
  "a receiver that answers %i whatever comes is told so once, and not checked",
  async (status, body, answer) => {
    const { url, requests } = await serveRecorder(
      (_request, response) => void response.writeHead(status).end(body),
    );
    const text = await callCli(["check", url]);
    expect(text).toMatchObject({ exitCode: 1, stdout: "" });
    expect(text.stderr).toMatch(/^signalbox check: .*doctor --url.*\n$/);
    expect(text.stderr).toContain(`(${answer})`);
    expect(requests).toHaveLength(3);
    const { rows, summary } = await runCheck(url);
    expect(rows).toEqual([]);
    expect(summary).toMatchObject({
      ok: false,
      complete: false,
      stoppedBy: expect.stringMatching(/authentic/),
    });
  },
);

test("a receiver that refuses only some of what is authentic is checked", async () => {
  const { receiver, url } = await serveReceiver();
  const withoutTests = await serveProxy(url, ({ body }) => {
    return /webhook\.(test|verification)/.test(body.toString()) ? 400 : {};
  });
  const { failed } = await runCheck(
    withoutTests,
    "--only",
    "events.test",
    "--only",
    "signature.missing",
  );
  expect(failed).toEqual(["events.test"]);
  expect(receiver.health().ok).toBe(true);
});
