import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, test } from "vitest";
import { clientClock, resolveClientOptions } from "../../src/client/client-options.js";
import { createClient } from "../../src/client/index.js";
import { codeIn, readDocument } from "./markdown.js";
import { at, knownOptions, nest } from "./options.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string): string => readFileSync(`${ROOT}${path}`, "utf8");
const PAGE = readDocument("docs/client.md");

const BASE_URL = "https://service.example/v1";
const rowsUnder = (heading: string): string[][] => PAGE.tablesUnder(heading)[0] ?? [];
const OPTIONS = rowsUnder("Options of the client").map(([name, value]) => ({ name: codeIn(name), value: value ?? "" }));
const sorted = (names: Iterable<string>): string[] => [...names].sort();

const resolve = (over: object): unknown => resolveClientOptions({ baseUrl: BASE_URL, ...over });

test("the page lists the options that createClient knows", () => {
  const known = ["", "retry."].flatMap((group) => {
    const names = knownOptions(() => resolve(nest(`${group}xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx`, 1)));
    return names.map((name) => `${group}${name}`);
  });
  expect(sorted(OPTIONS.map(({ name }) => name))).toEqual(sorted(known.filter((name) => name !== "retry")));
});

test("the page's defaults of the client are the code's", () => {
  const config = resolveClientOptions({ baseUrl: BASE_URL });
  const literal = OPTIONS.filter(({ value }) => /^`\d+`$/.test(value));
  expect(literal.length).toBeGreaterThan(5);
  expect(literal.map(({ name }) => [name, at(name, config)])).toEqual(
    literal.map(({ name, value }) => [name, Number(codeIn(value))]),
  );
  expect(
    Object.fromEntries(OPTIONS.filter((row) => !literal.includes(row)).map(({ name, value }) => [name, value])),
  ).toEqual({
    baseUrl: "required",
    apiKey: "none",
    userAgent: "the platform's",
    fetch: "the platform's",
    clock: "the system's",
    random: "`Math.random`",
  });
  const { readApiKey, userAgent, clock, random } = config;
  expect([readApiKey, userAgent, clock, random]).toEqual([null, null, clientClock, Math.random]);
});

test("the page lists the members of a client", () => {
  const listed = rowsUnder("Calling the service").flatMap(([names]) =>
    [...(names ?? "").matchAll(/`(\w+)\(/g)].map((match) => match[1] ?? ""),
  );
  expect(sorted(listed)).toEqual(sorted(Object.keys(createClient({ baseUrl: BASE_URL }))));
});

test("the page has a row for each kind of a failed call, and for no other", () => {
  const source = ts.createSourceFile("x.ts", read("src/client/client-error.ts"), ts.ScriptTarget.ES2023, true);
  const union = source.statements.filter(ts.isTypeAliasDeclaration).find(({ name }) => name.text === "ClientErrorKind");
  const kinds = [...(union?.getText().matchAll(/"(\w+)"/g) ?? [])].map((match) => match[1] ?? "");
  expect(kinds.length).toBeGreaterThan(5);
  expect(rowsUnder("When a call fails").map(([kind]) => codeIn(kind))).toEqual(kinds);
});
