import { posix } from "node:path";
import type { App } from "./detect-app.js";
import { findLastImport, placeOf, type BodyParser, type Place, type Source } from "./find-places.js";
import type { Shutdown } from "./find-shutdowns.js";

/** Lines that a user adds by hand. */
export interface LinesToAdd {
  purpose: "import" | "mount" | "start" | "close";
  /** From the app's folder; `null` if no file for them was found. */
  file: string | null;
  /** Of the file as it is now, from 1; `null` if no line for them was found. */
  line: number | null;
  /** `inside`: in the function or the statement that begins on that line. */
  place: "above" | "below" | "inside" | null;
  /** The text of that line. */
  at: string | null;
  /** What they come before, if their place is in the middle of that line. */
  before?: string;
  lines: string[];
}

export const MOUNT_PATH = "/webhooks/signals";

/**
 * In the order in which a user adds them.
 *
 * @param routerModule path of the new router from the app's folder, without its ending
 */
export function linesToAdd(app: App, sources: readonly Source[], routerModule: string): LinesToAdd[] {
  const { creation, bodyParser, listen, shutdowns } = app;
  const mountFile = creation?.file ?? null;
  const startFile = listen?.file ?? null;
  const mountAt =
    bodyParser !== null
      ? mountBefore(bodyParser)
      : creation?.isChained === false
        ? at(creation, "below")
        : nowhere(creation);
  const startAt = listen === null ? nowhere(null) : at(listen, listen.isNested ? "inside" : "above");

  const moduleFor = (file: string | null): string => `"${specifierOf(routerModule, file, app.importExtension)}"`;
  const closing = (file: string | null): string => callOn(app, moduleFor(file), "close()");
  const imported = new Set<string | null>();
  const importInto = (file: string | null, before: number | null): LinesToAdd[] => {
    if (app.isLazy || imported.has(file)) return [];
    imported.add(file);
    const module = moduleFor(file);
    const line = app.isRequiring ? `const { signals } = require(${module});` : `import { signals } from ${module};`;
    const source = sources.find((each) => each.file === file);
    // Only `require` has to stand above the line that uses it.
    const where = source === undefined ? nowhere(null) : importPlace(source, (app.isRequiring && before) || Infinity);
    return [{ purpose: "import", ...where, lines: [line] }];
  };
  const handlesSigterm = shutdowns.some(({ signals }) => signals.includes("SIGTERM"));
  return [
    ...importInto(mountFile, mountAt.line),
    { purpose: "mount", ...mountAt, lines: indented(mountLines(app, moduleFor(mountFile)), bodyParser ?? creation) },
    ...importInto(startFile, startAt.line),
    { purpose: "start", ...startAt, lines: indented(startLines(callOn(app, moduleFor(startFile), "start()")), listen) },
    ...(handlesSigterm
      ? []
      : [{ purpose: "close" as const, ...startAt, lines: indented(endLines(closing(startFile)), listen) }]),
    ...shutdowns.flatMap((shutdown) => [
      ...importInto(shutdown.file, shutdown.line),
      closeIn(shutdown, closing(shutdown.file)),
    ]),
  ];
}

type Where = Pick<LinesToAdd, "file" | "line" | "place" | "at" | "before">;

/** If the line of the parser also makes the app, there is no app yet above that line. */
function mountBefore(parser: BodyParser): Where {
  const { behindCreation: before } = parser;
  return before === null ? at(parser, "above") : { ...at(parser, "inside"), before };
}

function at({ file, line, text }: Place, place: "above" | "below" | "inside"): Where {
  return { file, line, place, at: text };
}

function nowhere(place: Place | null): Where {
  return { file: place?.file ?? null, line: null, place: null, at: null };
}

function importPlace(source: Source, before: number): Where {
  const last = findLastImport(source, before);
  if (last !== null) return at(last, "below");
  const first = placeOf(source, 1);
  const isDirective = /^(?:#!|["']use strict["'])/.test(first.text);
  return at(first, isDirective ? "below" : "above");
}

function indented(lines: readonly string[], like: Place | null, more = ""): string[] {
  return lines.map((line) => `${like?.indent ?? ""}${more}${line}`);
}

function specifierOf(routerModule: string, file: string | null, importExtension: string): string {
  const path = posix.relative(posix.dirname(file ?? "app"), routerModule);
  return `${path.startsWith(".") ? path : `./${path}`}${importExtension}`;
}

/** A call of `signals`: of the imported one, or of one that is loaded when the line runs. */
function callOn({ isLazy, isRequiring }: App, module: string, call: string): string {
  if (!isLazy) return `signals.${call}`;
  return isRequiring
    ? `require(${module}).signals.${call}`
    : `import(${module}).then(({ signals }) => signals.${call})`;
}

function mountLines(app: App, module: string): string[] {
  const use = `${app.creation?.variable ?? "app"}.use("${MOUNT_PATH}", `;
  if (!app.isLazy) return [`${use}signals.router);`];
  const call = callOn(app, module, "router(req, res, next)");
  // What cannot be loaded is an error of the request.
  const line = app.isRequiring ? call : `${call.slice(0, -1)}, next)`;
  return [`${use}(req, res, next) => {`, `  ${line};`, "});"];
}

/** Nothing waits for the start: deliveries before it get 503, and the sender tries again. */
function startLines(starting: string): string[] {
  return [`${starting}.catch((error) => {`, "  console.error(error);", "  process.exit(1);", "});"];
}

/** For an app that has no listener of SIGTERM. */
function endLines(closing: string): string[] {
  return [
    'process.once("SIGTERM", () => {',
    `  ${closing}.then(`,
    "    () => process.exit(0),",
    "    () => process.exit(1),",
    "  );",
    "});",
  ];
}

function closeIn(shutdown: Shutdown, closing: string): LinesToAdd {
  const { isOpen, isAsync, isStatement, exits, signals } = shutdown;
  const call = exits
    ? [
        `${closing}.catch(console.error).then(() => {`,
        "  // Move what ends the process here: process.exit() waits for nothing.",
        "});",
      ]
    : [`${closing}.catch(console.error);`];
  if (isOpen) {
    // `await` would be a syntax error in a function that is not async.
    const lines = isAsync ? [`await ${closing};`] : call;
    return { purpose: "close", ...at(shutdown, "inside"), lines: indented(lines, shutdown, "  ") };
  }
  const beside = signals.flatMap((name) => [
    `process.once("${name}", () => {`,
    ...call.map((line) => `  ${line}`),
    "});",
  ]);
  const where = isStatement ? at(shutdown, "above") : nowhere(shutdown);
  return { purpose: "close", ...where, lines: indented(beside, shutdown) };
}
