import { execFileSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { REJECTIONS } from "../../src/kit/receiver/rejection.js";
import { signalEvent, signedDelivery } from "../../src/kit/testing/index.js";
import { eventually } from "../faults/eventually.js";
import { anchorOf, codeIn, readDocument } from "../repo/markdown.js";
import { install, REPOSITORY } from "./installed.js";
import { startOnAnyPort } from "./processes.js";

const SECRET = "whsec_observed";
const PAGE = readDocument("docs/observability.md");
const ALERTS = join(REPOSITORY, "docs/observability/alerts.yml");
const DASHBOARD = join(REPOSITORY, "docs/observability/grafana.json");

interface Program {
  child: ChildProcess;
  /** The bases of the servers that it starts, in their order. */
  urls: string[];
  output(): string;
}

/**
 * Runs the program under a heading of the page, with no other packages than those that the page
 * installs.
 */
async function startProgram(
  heading: string,
  servers: number,
  env: Record<string, string> = {},
): Promise<Program> {
  const blockOf = (language: string): string =>
    PAGE.blocks.find((block) => block.heading === heading && block.language === language)?.code ??
    "";
  const packages = blockOf("sh").match(/@opentelemetry\/[\w-]+/g) ?? [];
  const folder = install(Object.fromEntries(packages.map((name) => [name, name])));
  writeFileSync(join(folder, "app.mjs"), blockOf("js"));
  writeFileSync(join(folder, "signals.secret"), SECRET, { mode: 0o600 });
  const child = startOnAnyPort(folder, "app.mjs", env);
  const urls: string[] = [];
  let output = "";
  child.stdout?.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.on("message", ({ port }: { port: number }) => urls.push(`http://127.0.0.1:${port}`));
  await eventually("its ports", () => urls.length === servers);
  return { child, urls, output: () => output };
}

/** Sends a signal, the same again, a forged one, and another signal. @returns the statuses */
async function sendLoad(url: string, traceparent?: string): Promise<number[]> {
  const [first, forged, other] = [signalEvent(), signalEvent(), signalEvent()];
  const statuses = [];
  for (const event of [first, first, forged, other]) {
    const { headers, body } = signedDelivery(event, {
      secret: event === forged ? "whsec_other" : SECRET,
    });
    const sent = { ...headers, connection: "close", ...(traceparent && { traceparent }) };
    const { status } = await fetch(url, { method: "POST", headers: sent, body: Buffer.from(body) });
    statuses.push(status);
  }
  return statuses;
}

const rows = (PAGE.tablesUnder("Metrics")[0] ?? []).map(([name, printed, kind, unit, attribute]) =>
  [name, printed, kind, unit, attribute].map(codeIn),
);

/** What a scrape has of signalbox, as the rows of the page's table. */
function rowsOf(scrape: string): unknown[] {
  return [
    ...scrape.matchAll(/^# UNIT (signalbox_\w+) (\S+)\n# TYPE \S+ (\w+)\n((?:\1.*\n)+)/gm),
  ].map(([, printed = "", unit, kind, samples = ""]) => {
    const labels = new Set([...samples.matchAll(/(signalbox_\w+)="/g)].map(([, label]) => label));
    expect(labels.delete("signalbox_endpoint"), printed).toBe(true);
    return [printed, kind, unit, [...labels].join().replace("_", ".")];
  });
}

test("the program for Prometheus prints the load, with the metrics of the table and no others; alerts and dashboard use these", async () => {
  const { urls } = await startProgram("Prometheus", 2);
  const [metrics = "", receiver = ""] = urls;
  expect(await sendLoad(receiver)).toEqual([200, 200, 401, 200]);
  let scrape = "";
  await eventually("the second hand-off", async () => {
    scrape = await (await fetch(`${metrics}/metrics`)).text();
    return /^signalbox_handoffs_total\{.*signalbox_outcome="done".*\} 2$/m.test(scrape);
  });
  const counts = scrape.matchAll(
    /^signalbox_deliveries_total\{.*signalbox_outcome="(\w+)".*\} ([1-9]\d*)$/gm,
  );
  expect([...counts].map(([, outcome, count]) => [outcome, count])).toEqual([
    ["accepted", "2"],
    ["duplicate", "1"],
    ["signature_mismatch", "1"],
  ]);

  expect(
    rows.map(([name, printed]) => [name?.replaceAll(".", "_"), printed?.replace(/_total$/, "")]),
  ).toEqual(rows.map(([, printed]) => Array<unknown>(2).fill(printed?.replace(/_total$/, ""))));
  // Nobody asks for alarms there.
  const asked = rows.filter(([name]) => name !== "signalbox.alarm");
  expect(rowsOf(scrape)).toEqual(asked.map(([, ...row]) => row));
  const namesIn = (text: string): string[] => [...new Set(text.match(/signalbox_\w+/g))];
  const known = new Set([...namesIn(scrape), "signalbox_alarm", "signalbox_kind"]);
  for (const path of [ALERTS, DASHBOARD]) {
    const used = namesIn(readFileSync(path, "utf8"));
    expect(used.length, path).toBeGreaterThan(5);
    expect(
      used.filter((name) => !known.has(name)),
      path,
    ).toEqual([]);
  }
});

test("alerts name outcomes that exist, and lead to a page that does", () => {
  const alerts = readFileSync(ALERTS, "utf8");
  const outcomes = [...alerts.matchAll(/outcome=~?"([\w|]+)"/g)].flatMap(([, names = ""]) =>
    names.split("|"),
  );
  expect(outcomes.filter((name) => !(name in REJECTIONS))).toEqual([]);
  const links = [...alerts.matchAll(/runbook: node_modules\/signalbox\/(\S+)#(\S+)/g)];
  expect(links).toHaveLength(alerts.match(/- alert:/g)?.length ?? -1);
  for (const [link, path = "", anchor] of links) {
    expect(existsSync(join(REPOSITORY, path)), link).toBe(true);
    expect(
      readDocument(path).headings.map(({ text }) => anchorOf(text)),
      link,
    ).toContain(anchor);
  }
});

const hasPromtool = (process.env["PATH"] ?? "")
  .split(":")
  .some((folder) => existsSync(join(folder, "promtool")));

test.skipIf(!hasPromtool)("promtool accepts the alert rules", () => {
  expect(execFileSync("promtool", ["check", "rules", ALERTS], { encoding: "utf8" })).toMatch(
    /SUCCESS: \d rules/,
  );
});

interface ExportedSpan {
  name: string;
  spanId: string;
  parentSpanId?: string;
  links?: { spanId: string }[];
}

interface Export {
  resourceSpans?: { scopeSpans: { spans: ExportedSpan[] }[] }[];
  resourceMetrics?: { resource: unknown; scopeMetrics: { metrics: { name: string }[] }[] }[];
}

/** Takes what is exported over OTLP, as JSON. */
async function startCollector(): Promise<{ url: string; exports: Export[] }> {
  const exports: Export[] = [];
  const server = createServer((request, response) => {
    void request.toArray().then((chunks: Buffer[]) => {
      exports.push(JSON.parse(Buffer.concat(chunks).toString()) as Export);
      response.setHeader("Content-Type", "application/json").end("{}");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, exports };
}

test("the program for OTLP has exported all when it ends: what it counted, and the trace of the page", async () => {
  const { url, exports } = await startCollector();
  const { child, urls, output } = await startProgram("OTLP", 1, {
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
  });
  const sender = "b7ad6b7169203331";
  expect(await sendLoad(urls[0] ?? "", `00-0af7651916cd43dd8448eb211c80319c-${sender}-01`)).toEqual(
    [200, 200, 401, 200],
  );
  await eventually(
    "the second signal",
    () => output().match(/^signal default\/sig_/gm)?.length === 2,
  );
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);

  const measured = exports.flatMap(({ resourceMetrics = [] }) => resourceMetrics);
  const metrics = measured.flatMap(({ scopeMetrics }) =>
    scopeMetrics.flatMap((scope) => scope.metrics),
  );
  // The receiver was closed before the first export, so the disk was never asked, nor for alarms.
  const unasked = new Set(["signalbox.sync.duration", "signalbox.alarm"]);
  const expected = rows.map(([name = ""]) => name).filter((name) => !unasked.has(name));
  expect([...new Set(metrics.map(({ name }) => name))]).toEqual(expected);
  expect(JSON.stringify(measured[0]?.resource)).toContain('"signals"');

  const spans = exports.flatMap(({ resourceSpans = [] }) =>
    resourceSpans.flatMap((each) => each.scopeSpans.flatMap((scope) => scope.spans)),
  );
  const own = spans.filter(({ name }) => name === "add job");
  expect(own).toHaveLength(2);
  // How these hang together is in test/unit/kit/telemetry.
  for (const { parentSpanId } of own) {
    const parent = spans.find(({ spanId }) => spanId === parentSpanId);
    expect(parent?.name).toBe("hand-off default");
  }
  const received = spans.filter(({ name }) => name === "receive default");
  expect(received.flatMap(({ links = [] }) => links.map(({ spanId }) => spanId))).toEqual(
    received.map(() => sender),
  );
});
