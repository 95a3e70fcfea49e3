import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { afterEach, expect, test, vi } from "vitest";
import { systemClock } from "../../src/time/clock.js";
import { createReceiver, parseEvent, type Handoff, type ReceiverOptions } from "../../src/index.js";
import { EVENT_STATES } from "../../src/inbox/stored-events.js";
import { parseSearch } from "../../src/inbox-page/parse-search.js";
import { resolveOptions } from "../../src/receiver/options.js";
import { REJECTIONS, type Rejection } from "../../src/receiver/rejection.js";
import { memoryStore } from "../../src/stores/memory.js";
import { sqliteStore } from "../../src/stores/sqlite/sqlite-store.js";
import * as testing from "../../src/testing/index.js";
import { signalEvent, signedDelivery } from "../../src/testing/index.js";
import { tempFolder } from "../unit/temp-folder.js";
import { checkBlocks } from "./check-blocks.js";
import { anchorOf, codeIn, DOCUMENTS, readDocument } from "./markdown.js";
import { at, knownOptions, nest } from "./options.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string): string => readFileSync(`${ROOT}${path}`, "utf8");
const RECEIVER = readDocument("docs/receiver.md");
const TESTING = readDocument("docs/testing.md");
const ERRORS = readDocument("docs/errors.md");
const MANIFEST = JSON.parse(read("package.json")) as {
  version: string;
  engines: { node: string };
  files: string[];
  exports: Record<string, string>;
};

const BLOCKS = DOCUMENTS.flatMap((path) => readDocument(path).blocks);

const SECRET = "whsec_test";
const minimal = (): ReceiverOptions => ({ secrets: SECRET, store: memoryStore(), onSignal: () => undefined });

const tableUnder = (heading: string, index = 0, page = RECEIVER): string[][] => page.tablesUnder(heading)[index] ?? [];
const namesUnder = (heading: string, index = 0, page = RECEIVER): string[] =>
  tableUnder(heading, index, page).map(([name]) => codeIn(name));
const sorted = (names: Iterable<string>): string[] => [...names].sort();

/** The statements of a source, for what has no form at run time. */
const statementsOf = (path: string): readonly ts.Statement[] =>
  ts.createSourceFile(path, read(path), ts.ScriptTarget.ES2023, true).statements.slice();

function setAt(root: Record<string, unknown>, path: string, value: unknown): void {
  const names = path.split(".");
  const last = names.pop() ?? "";
  let node = root;
  for (const name of names) node = (node[name] ??= {}) as Record<string, unknown>;
  node[last] = value;
}

afterEach(() => vi.restoreAllMocks());

test("the page of errors has a heading for each error code and for no other", () => {
  const union = statementsOf("src/errors.ts").find(ts.isTypeAliasDeclaration);
  const codes = union?.getText().match(/"\w+"/g) ?? [];
  const headings = ERRORS.headings.filter(({ level, text }) => level === 2 && text.startsWith("`"));
  expect(codes.length).toBeGreaterThan(10);
  expect(sorted(headings.map(({ text }) => codeIn(text)))).toEqual(
    sorted(codes.map((code) => code.replaceAll('"', ""))),
  );
});

test("the page lists the options that createReceiver knows", () => {
  const documented = namesUnder("Options");
  const groups = ["", "maxQueued.", "handoff.", "handoff.backoff.", "retention."];
  const known = groups.flatMap((group) => {
    const options = { ...minimal(), ...nest(`${group}xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx`, 1) };
    return knownOptions(() => resolveOptions(options)).map((name) => `${group}${name}`);
  });
  const withMembers = new Set(["maxQueued", "handoff", "retention"]);
  expect(sorted(documented)).toEqual(sorted(known.filter((name) => !withMembers.has(name))));
});

test("the page's defaults are the code's", () => {
  vi.spyOn(Math, "random").mockReturnValue(1);
  const config = resolveOptions(minimal());
  const { backoff } = config.handoff;
  const inForce = {
    ...config,
    handoff: {
      ...config.handoff,
      backoff: { baseMs: backoff(1), factor: backoff(2) / backoff(1), maxMs: backoff(1000) },
    },
  };
  const rows = tableUnder("Options").map(([name, value]) => ({ name: codeIn(name), value: value ?? "" }));
  const literal = rows.filter(({ value }) => /^`(\d+|true|".*")`$/.test(value));
  expect(literal.length).toBeGreaterThan(14);
  expect(literal.map(({ name }) => [name, at(name, inForce)])).toEqual(
    literal.map(({ name, value }) => [name, JSON.parse(codeIn(value))]),
  );

  const others = Object.fromEntries(
    rows.filter((row) => !literal.includes(row)).map(({ name, value }) => [name, value]),
  );
  expect(others).toEqual({
    secrets: "required",
    store: "required",
    onSignal: "required",
    onTest: "none",
    "handoff.backoff": "see the next 3",
    logger: "pino at `info`",
    telemetry: "none",
    clock: "the system's",
  });
  expect([config.onTest, config.logger.level, config.clock]).toEqual([null, "info", systemClock]);
  for (const name of ["secrets", "store", "onSignal"]) {
    expect(() => resolveOptions({ ...minimal(), [name]: undefined })).toThrow();
  }
});

test("the page lists the options that sqliteStore knows", () => {
  const known = knownOptions(() => sqliteStore({ path: "signals.db", xxxxxxxx: 1 } as never));
  expect(sorted(namesUnder("Options", 1))).toEqual(sorted(known));
  expect(tableUnder("Options", 1).map(([, value]) => value)).toEqual(["required", "`false`", "`false`"]);
  expect(sqliteStore("signals.db").shared).toBe(false);
});

test("the page lists the members of a receiver and of its inbox", () => {
  const receiver = createReceiver({ ...minimal(), logger: false });
  const names = namesUnder("Members").map((name) => name.replace(/\(.*$/, ""));
  // What cannot be enumerated is for other parts of the package.
  const members = Reflect.ownKeys(receiver)
    .filter((key) => Object.prototype.propertyIsEnumerable.call(receiver, key))
    .map((key) => (key === Symbol.asyncDispose ? "[Symbol.asyncDispose]" : String(key)));
  expect(sorted(names)).toEqual(sorted(members));

  const calls = tableUnder("The inbox").map(([cell = ""]) => cell);
  const documented = calls.flatMap((cell) => [...cell.matchAll(/`(\w+)\(/g)].map((match) => match[1] ?? ""));
  const inbox = statementsOf("src/inbox/inbox-reader.ts").filter(ts.isInterfaceDeclaration);
  const declared = inbox.find(({ name }) => name.text === "Inbox")?.members.map((member) => member.name?.getText());
  expect(documented).toEqual([...new Set(declared)]);
});

test("the page lists the fields of health and stats", async () => {
  const store = sqliteStore(join(tempFolder(), "signals.db"));
  const receiver = createReceiver({ ...minimal(), store, logger: false });
  await receiver.start();
  const health = { ...receiver.health() } as Record<string, unknown>;
  const stats = await receiver.inbox.stats();
  await receiver.close();

  const { medium, ...own } = health;
  const inside = Object.keys(medium as object).map((name) => `medium.${name}`);
  const documented = tableUnder("Health").map(([name, says]) => [codeIn(name), says ?? ""] as const);
  expect(sorted(documented.map(([name]) => name))).toEqual(sorted([...Object.keys(own), ...inside]));
  const wordsIn = (text: string): string[] => [...text.matchAll(/`(\w+)`/g)].map((match) => match[1] ?? "");
  for (const [name, says] of documented) {
    const value = at(name, health);
    // "as `commits`"
    if (typeof value !== "object" || value === null || name === "medium.sync") continue;
    expect(wordsIn(says), name).toEqual(expect.arrayContaining(Object.keys(value)));
  }
  const unionOf = (path: string, name: string): string[] => {
    const [, union = ""] = new RegExp(`\\b${name}\\b[:=\\s]+((?:\\|?\\s*"\\w+"\\s*)+);`).exec(read(path)) ?? [];
    return [...union.matchAll(/"(\w+)"/g)].map((match) => match[1] ?? "");
  };
  const says = new Map(documented);
  expect(wordsIn(says.get("state") ?? "")).toEqual(unionOf("src/receiver/health.ts", "ReceiverState"));
  expect(wordsIn(says.get("breaker") ?? "")).toEqual(unionOf("src/inbox/inbox-reader.ts", "breaker"));
  expect(says.get("medium.durability")).toContain(`\`${at("medium.durability", health) as string}\``);

  const from = documented.findIndex(([name]) => name === "oldestReadyAgeMs");
  const both = documented.slice(from).map(([name]) => name.split(".")[0] ?? "");
  expect(Object.keys(stats)).toEqual(expect.arrayContaining([...both, ...EVENT_STATES]));
});

test("the page lists the fields of a hand-off", async () => {
  const handedOff = new Promise<Handoff>((resolveHandoff) => {
    const onSignal = (_signal: unknown, handoff: Handoff) => resolveHandoff(handoff);
    void receiveOnce({ ...minimal(), onSignal });
  });
  const given = await handedOff;
  const getters = Object.getOwnPropertyNames(Object.getPrototypeOf(given));
  // `completeSql` has a page of its own.
  const fields = [...Object.keys(given), ...getters].filter((name) => !["constructor", "completeSql"].includes(name));
  expect(sorted(namesUnder("The hand-off", 0, readDocument("docs/hand-off.md")))).toEqual(sorted(fields));
});

async function receiveOnce(options: ReceiverOptions): Promise<void> {
  const receiver = createReceiver({ ...options, logger: false });
  const done = new Promise((end) => receiver.on("handedOff", end));
  await receiver.start();
  await receiver.handle({ method: "POST", ...signedDelivery(signalEvent(), { secret: SECRET }) });
  await done;
  await receiver.close();
}

test("the page lists the events of receiver.on, and what each carries", () => {
  const map = statementsOf("src/receiver/receiver-events.ts")
    .filter(ts.isInterfaceDeclaration)
    .find(({ name }) => name.text === "ReceiverEventMap");
  const declared = (map?.members ?? []).map((member) => {
    const fields: string[] = [];
    const collect = (node: ts.Node): void => {
      if (ts.isPropertySignature(node) && node !== member) fields.push(node.name.getText());
      ts.forEachChild(node, collect);
    };
    collect(member);
    return [member.name?.getText(), fields];
  });
  const documented = tableUnder("Events of `receiver.on`").map(([name, , carries]) => [
    codeIn(name),
    [...(carries ?? "").matchAll(/`(\w+)`/g)].map((match) => match[1]),
  ]);
  expect(documented.length).toBeGreaterThan(5);
  expect(documented).toEqual(declared);
});

const refusals = Object.entries<Rejection>(REJECTIONS).map(([code, { status }]) => `${status} ${code}`);

test("both tables of answers list each refusal with its status", () => {
  const answers = tableUnder("Answers to the sender").filter(([, status]) => status !== "200");
  expect(sorted(answers.map(([, status, code]) => `${status} ${codeIn(code)}`))).toEqual(sorted(refusals));
  const mends = tableUnder("Answer codes", 0, ERRORS);
  expect(sorted(mends.map(([code, status]) => `${status} ${codeIn(code)}`))).toEqual(sorted(refusals));
});

test("the headers in the table are sent with these refusals and no others", () => {
  const codesWith = (name: string, value?: string): string[] =>
    Object.entries<Rejection>(REJECTIONS)
      .filter(([, { headers }]) => headers?.[name] !== undefined && headers[name] === (value ?? headers[name]))
      .map(([code]) => code);
  const rows = tableUnder("Answers to the sender");
  const codes = (matches: (row: string[]) => boolean): string[] => rows.filter(matches).map((row) => codeIn(row[2]));
  expect(sorted(codesWith("Retry-After"))).toEqual(sorted(codes((row) => row[1] === "503")));
  expect(sorted(codesWith("Connection", "close"))).toEqual(
    sorted(codes((row) => row[2]?.includes("the connection closes") === true)),
  );
  expect(codesWith("Allow", "POST")).toEqual(codes((row) => row[2]?.includes("`Allow: POST`") === true));
});

test("the bodies that the page promises with a 200 are sent", async () => {
  const receiver = createReceiver({ ...minimal(), logger: false });
  await receiver.start();
  const event = signalEvent();
  const challenge = "<the received value>";
  const verification = { ...signalEvent(), type: "webhook.verification", data: { challenge } };
  const bodies: string[] = [];
  for (const body of [event, event, "no JSON", verification]) {
    const answer = await receiver.handle({ method: "POST", ...signedDelivery(body, { secret: SECRET }) });
    bodies.push(answer.body);
  }
  await receiver.close();
  const promised = tableUnder("Answers to the sender").filter(([, status]) => status === "200");
  expect(promised.map(([, , body]) => codeIn(body))).toEqual(bodies);
});

test("the page lists what signalbox/testing has", () => {
  const listed = namesUnder("Testing your handler", 0, TESTING).map((name) => name.replace(/\(.*$/, ""));
  expect(sorted(listed)).toEqual(sorted(Object.keys(testing)));
  const members = [
    ...(tableUnder("Testing your handler", 0, TESTING).find(([name]) => name?.includes("testReceiver"))?.[1] ?? "")
      .split("Gives")[1]!
      .matchAll(/`(\w+)`/g),
  ].map((match) => match[1]);
  const kit = statementsOf("src/testing/test-receiver.ts").filter(ts.isInterfaceDeclaration);
  const declared = kit
    .find(({ name }) => name.text === "TestReceiver")
    ?.members.map((member) => member.name?.getText());
  expect(sorted([...(members as string[]), "[Symbol.asyncDispose]"])).toEqual(sorted(declared as string[]));
});

test("the pages name the entry points of the package, and no document uses another", () => {
  const entries = Object.entries(MANIFEST.exports).filter(([, target]) => target.endsWith(".js"));
  const existing = sorted(entries.map(([entry]) => `signalbox${entry.slice(1)}`));
  const listed = /^Entry points: ([^.]*)\.$/m.exec(TESTING.lines.join("\n"))?.[1] ?? "";
  expect(sorted([...listed.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? ""))).toEqual(existing);
  const used = BLOCKS.flatMap(({ code }) => [...code.matchAll(/["'](signalbox(?:\/[\w/]+)?)["']/g)]);
  expect(used.length).toBeGreaterThan(10);
  expect(used.map((match) => match[1] ?? "").filter((name) => !existing.includes(name))).toEqual([]);
});

test("the versions that the page requires are those of package.json", () => {
  expect(`>=${/Node ([\d.]+) or later/.exec(readDocument("docs/installing.md").lines.join(" "))?.[1]}`).toBe(
    MANIFEST.engines.node,
  );
});

test("each block of JavaScript and TypeScript in the documents is sound", { timeout: 60_000 }, () => {
  expect(BLOCKS.filter(({ language }) => language === "js" || language === "ts").length).toBeGreaterThan(12);
  expect(checkBlocks(BLOCKS, "js")).toEqual([]);
  expect(checkBlocks(BLOCKS, "ts")).toEqual([]);
});

test("the page lists each property that an event must have, and no other", () => {
  const listed = [0, 1].flatMap((index) => namesUnder("What an event must have", index));
  const event: Record<string, unknown> = { ...signalEvent() };
  expect(parseEvent(Buffer.from(JSON.stringify(event)))).toMatchObject({ kind: "known" });
  const bare: Record<string, unknown> = {};
  for (const path of listed) {
    expect(at(path, event), path).toBeDefined();
    if (path !== "data") setAt(bare, path, at(path, event));
    const lacking = structuredClone(event);
    setAt(lacking, path, undefined);
    const parsed = parseEvent(Buffer.from(JSON.stringify(lacking)));
    expect(parsed, path).toMatchObject({ kind: "unusable", path });
  }
  // With these and nothing else an event is sound.
  expect(parseEvent(Buffer.from(JSON.stringify(bare)))).toMatchObject({ kind: "known" });
});

test("the index of the pages lists each page once", () => {
  const index = readDocument("docs/README.md").links.map((link) => `docs/${link}`);
  expect(sorted(index)).toEqual(DOCUMENTS.filter((path) => /^docs\/[a-z]/.test(path)));
});

test("the README and the pages are short", () => {
  const tooLong = DOCUMENTS.filter((path) => path !== "CHANGELOG.md").filter((path) => {
    const most = path === "README.md" ? 200 : 300;
    return readDocument(path).lines.length - 1 > most;
  });
  expect(tooLong).toEqual([]);
});

test("each link leads to a file and a heading that exist, in the package too", () => {
  const isPacked = (target: string): boolean =>
    /^(README\.md|LICENSE)$/.test(target) || MANIFEST.files.some((path) => `${target}/`.startsWith(`${path}/`));
  const brokenIn = (path: string): string[] =>
    readDocument(path).links.filter((link) => {
      if (link.startsWith("https:")) return false;
      const [file = "", anchor] = link.split("#");
      const target = file === "" ? path : join(dirname(path), file);
      if (!existsSync(`${ROOT}${target}`) || (isPacked(path) && !isPacked(target))) return true;
      return anchor !== undefined && !readDocument(target).headings.some(({ text }) => anchorOf(text) === anchor);
    });
  const broken = [...DOCUMENTS, "src/README.md", "fixtures/README.md"].flatMap((path) =>
    brokenIn(path).map((link) => `${path}: ${link}`),
  );
  expect(broken).toEqual([]);
});

test("each page that a source names exists", () => {
  const sources = readdirSync(`${ROOT}src`, { recursive: true, encoding: "utf8" }).filter((path) =>
    path.endsWith(".ts"),
  );
  const named = sources
    .flatMap((path) => [...read(`src/${path}`).matchAll(/docs\/[a-z-]+\.md/g)])
    .map(([page]) => page);
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((page) => !DOCUMENTS.includes(page))).toEqual([]);
});

test("the changelog's newest release is this version", () => {
  const sections = readDocument("CHANGELOG.md").headings.filter(({ level }) => level === 2);
  const newest = sections.map(({ text }) => text).find((text) => text !== "[Unreleased]");
  expect(newest).toMatch(new RegExp(`^\\[${MANIFEST.version.replaceAll(".", "\\.")}\\] - \\d{4}-\\d{2}-\\d{2}$`));
});

test("the map of the code names the folders and files that there are", () => {
  const map = readDocument("src/README.md");
  const rows = map.tablesUnder("The folders")[0] ?? [];
  const folders = rows.map(([name]) => codeIn(name)).filter((name) => name.endsWith("/"));
  const existing = readdirSync(`${ROOT}src`, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(sorted(folders)).toEqual(sorted(existing.map(({ name }) => `${name}/`)));
  const named = [...read("src/README.md").matchAll(/`([\w-]+\/[\w/-]+\.ts)`/g)].map((match) => match[1] ?? "");
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((path) => !existsSync(`${ROOT}src/${path}`))).toEqual([]);
});

test("the page of the inbox page lists the terms of a search, and each is one", () => {
  const rows = tableUnder("Search", 0, readDocument("docs/inbox-page.md"));
  const terms = rows.map(([term]) => codeIn(term));
  const named = terms.filter((term) => term.includes(":")).map((term) => term.split(":")[0]);
  // A name that is not known is refused with the list of all.
  expect(() => parseSearch("colour:red", 0)).toThrow(
    `Known are ${["type", "state", "product", "id", "before"].map((name) => `${name}:`).join(", ")}.`,
  );
  expect(new Set([...named, "id"])).toEqual(new Set(["before", "id", "product", "state", "type"]));
  const typed = rows.flatMap((cells) =>
    [...cells.join(" ").matchAll(/`([a-z]+:[^`]+|sig_\d+)`/g)].map((match) => match[1] ?? ""),
  );
  expect(typed).toContain("type:webhook.test");
  for (const term of typed) expect(Object.keys(parseSearch(term, 0))).toHaveLength(1);
  const [, states = ""] = rows.find(([term]) => codeIn(term).startsWith("state:")) ?? [];
  expect([...states.matchAll(/`([a-z]+)`/g)].map((match) => match[1])).toEqual(EVENT_STATES);
});
