import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import type { CodeBlock } from "./markdown.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const MANIFEST = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8")) as {
  exports: Record<string, string>;
};

/**
 * Names that a block may use without an import: the app and the receiver of the quick start, and
 * the client.
 */
const SURROUNDINGS = `
import type { Express } from "express";
import type { Receiver } from "signalbox";
import type { Client } from "signalbox/client";
declare global {
  const app: Express;
  const client: Client;
  const receiver: Receiver;
  const express: typeof import("express");
  const expressHandler: typeof import("signalbox/express").expressHandler;
  const Bun: any;
  const Deno: any;
}
`;

/**
 * What the checker says of a module that is not there: a package that need not be installed, or a
 * file of the reader's. Its names are then `any`.
 */
const MISSING =
  /^(Cannot find module|Could not find a declaration file for module) '(?!signalbox)|^Relative import paths need/;

/** Of these our side of a call is checked, and not theirs, which is another version here or none. */
const CLIENTS = `
declare module "@prisma/client" {
  type PrismaClient = { $transaction<T>(work: (tx: any) => Promise<T>): Promise<T> };
}
declare module "pg-boss" {
  type PgBoss = any;
}
`;

/** What the checker says of plain JavaScript because it is strict; an editor does not. */
const STRICT_ALONE = /implicitly has an|Could not find a declaration file|\b(undefined|null)\b/;

/**
 * Type-checks the JavaScript and TypeScript among blocks of code against the types that the build
 * made, each as a module of its own.
 *
 * @returns one line for each mistake
 */
export function checkBlocks(blocks: readonly CodeBlock[]): string[] {
  const files = new Map<string, { text: string; block?: CodeBlock }>([
    [`${ROOT}test/surroundings.d.ts`, { text: SURROUNDINGS }],
    [`${ROOT}test/clients.d.ts`, { text: CLIENTS }],
  ]);
  for (const block of blocks.filter(({ language }) => language === "js" || language === "ts")) {
    const extension = /\brequire\(/.test(block.code) ? "cjs" : block.language;
    const name = `${block.path.replaceAll(/\W/g, "-")}-${block.line}`;
    files.set(`${ROOT}test/${name}.${extension}`, { text: block.code, block });
  }
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    lib: ["lib.es2023.d.ts", "lib.esnext.disposable.d.ts"],
    types: ["node"],
    paths: pathsOfExports(),
    strict: true,
    experimentalDecorators: true,
    noUnusedLocals: false,
    allowJs: true,
    checkJs: true,
    noEmit: true,
    skipLibCheck: true,
  };
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.getCurrentDirectory = () => ROOT;
  host.fileExists = (name) => files.has(name) || fileExists(name);
  host.readFile = (name) => files.get(name)?.text ?? readFile(name);
  host.getSourceFile = (name, target, ...rest) => {
    const text = files.get(name)?.text;
    return text === undefined
      ? getSourceFile(name, target, ...rest)
      : ts.createSourceFile(name, withModuleMark(name, text), target, true);
  };
  const program = ts.createProgram({ rootNames: [...files.keys()], options, host });
  const mistakes: string[] = [];
  for (const [name, { block }] of files) {
    const source = program.getSourceFile(name);
    if (source === undefined) throw new Error(`${name} was not checked`);
    const found = [
      ...program.getSyntacticDiagnostics(source),
      ...program.getSemanticDiagnostics(source),
    ];
    for (const { start, messageText } of found) {
      const line = (block?.line ?? 1) + source.getLineAndCharacterOfPosition(start ?? 0).line;
      const text = ts.flattenDiagnosticMessageText(messageText, " ");
      if (MISSING.test(text) || (block?.language === "js" && STRICT_ALONE.test(text))) continue;
      mistakes.push(`${block?.path ?? name}:${line} ${text}`);
    }
  }
  return mistakes;
}

/** A block without imports is a module too: its names are its own. */
function withModuleMark(name: string, text: string): string {
  return name.endsWith(".d.ts") || name.endsWith(".cjs") ? text : `${text}\nexport {};\n`;
}

/** Each entry point of the package, at its types. */
function pathsOfExports(): Record<string, string[]> {
  const entries = Object.entries(MANIFEST.exports).filter(([, target]) => target.endsWith(".js"));
  return Object.fromEntries(
    entries.map(([entry, target]) => [
      `signalbox${entry.slice(1)}`,
      [`${ROOT}${target.replace(/\.js$/, ".d.ts")}`],
    ]),
  );
}
