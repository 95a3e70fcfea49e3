import { once } from "node:events";
import { readdirSync, rmSync } from "node:fs";
import { basename, dirname } from "node:path";
import { PassThrough } from "node:stream";
import type { WriteStream } from "node:tty";
import { expect, onTestFinished, test, vi } from "vitest";
import { createTerminal } from "../../../src/cli/console/terminal.js";
import {
  replayFixtures,
  runScenario,
  startDemoReceiver,
} from "../../../src/cli/service/demo/run-demo.js";
import { callCli } from "../call-cli.js";
import { REQUESTS } from "../deliveries/fixture-names.js";
import { expectGolden } from "../golden.js";
import { ndjson, outcomeOf, rowsOf, runCli, startCli } from "../run-cli.js";
import { serveRecorder } from "../serve-requests.js";
import { tempFiles } from "../temp-files.js";

const STORY = ["service", "follow", "register", "handshake", "month", "callback"];
const KINDS = ["accepted", "duplicate", "challenge", "unusable", "forged", "refused", "callback"];

/** What depends on the day, on the machine, and on the folder. */
const MASKS: [RegExp, string][] = [
  [/it is .* types/g, "it is DAY: N signals of N types"],
  [/\b(\d+) hand-offs of \1 events/g, "N hand-offs of N events"],
  [/\d+(\.\d+)? s\b/g, "N s"],
];

test("the demo tells the story, sums up the deliveries by kind, and ends with a verdict and what to do next", async () => {
  const folder = tempFiles();
  const run = await runCli(["demo", "--keep"], { env: { TMPDIR: folder } });
  await expectGolden("demo", run, [[new RegExp(`${folder}/[\\w-]+`, "g"), "KEPT"], ...MASKS]);
  expect(run.lines.every((line) => line.length <= 60 || line.includes(folder))).toBe(true);
  const sums = [...run.stdout.matchAll(/^ok +(?!callback)\w+ +(\d+) .*: (?:200|4)/gm)];
  expect(sumOf(sums)).toBe(REQUESTS.length);
  const path = /^The inbox is (\S+)$/m.exec(run.stdout)?.[1] ?? "";
  expect(readdirSync(folder)).toEqual([basename(dirname(path))]);
  const stats = ndjson(await callCli(["inbox", "stats", "--db", path, "--json"]));
  const done = sumOf([...run.stdout.matchAll(/(\d+) hand-offs of \1 events, each once/g)]);
  expect(stats).toMatchObject([{ ready: 0, leased: 0, dead: 0, done }]);
});

const sumOf = (found: RegExpExecArray[]): number =>
  found.reduce((sum, [, count]) => sum + Number(count), 0);

test("--verbose adds a row for each delivery; --json has it, and the verdict at the end; nothing is left", async () => {
  const folder = tempFiles();
  vi.stubEnv("TMPDIR", folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  const { lines } = await callCli(["demo", "--verbose"]);
  for (const { name, expect: expected } of REQUESTS) {
    const own = lines.filter((line) => line.startsWith(`ok  ${name}  `));
    expect(own, name).toEqual([expect.stringContaining(`  ${expected.status} `)]);
  }
  const rows = rowsOf(await callCli(["demo", "--json"]));
  expect(rows.filter((row) => row["ok"] !== true)).toEqual([]);
  expect(rows.filter((row) => "name" in row)).toHaveLength(REQUESTS.length);
  expect(rows.flatMap((row) => row["step"] ?? [])).toEqual([...STORY, ...KINDS]);
  expect(readdirSync(folder)).toEqual([]);
});

test("Ctrl-C ends the demo with 130 and still cleans up", async () => {
  const folder = tempFiles();
  const child = startCli(["demo"], { env: { TMPDIR: folder } });
  const outcome = outcomeOf(child);
  await once(child.stdout as NodeJS.ReadableStream, "data");
  child.kill("SIGINT");
  const { exitCode, stderr } = await outcome;
  expect(exitCode).toBe(130);
  expect(stderr).not.toContain("    at ");
  expect(readdirSync(folder)).toEqual([]);
});

test("a step fails that had nothing to show, and the statuses are those of the answers", async () => {
  const own = await startDemoReceiver();
  const { url } = await serveRecorder((_request, response) => void response.writeHead(500).end());
  const lies = { ...own, url: new URL(url) };
  const steps = new Map<string, string>();
  const report = (step: string, ok: boolean, text: string): void =>
    void steps.set(step, `${ok} ${text}`);
  const { signal } = new AbortController();
  const nowhere = new PassThrough() as unknown as WriteStream;
  const terminal = createTerminal(nowhere, nowhere, {});
  try {
    const secret = await runScenario(lies, report, signal);
    expect([...steps.keys()]).toEqual(STORY);
    expect([steps.get("handshake"), steps.get("month")]).toEqual(
      Array(2).fill(expect.stringMatching(/^false /)),
    );
    await replayFixtures(lies, { secret, rows: "failed" }, report, { terminal, signal });
    for (const kind of KINDS.slice(0, -1)) expect(steps.get(kind)).toMatch(/^false .*: 500$/);
    // What was refused is not waited for.
    expect(steps.get("callback")).toContain("0 hand-offs of 0 events");
  } finally {
    await own.close();
    rmSync(own.folder, { recursive: true });
  }
});
