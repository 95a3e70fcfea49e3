import { posix } from "node:path";
import type { App } from "./detect-app.js";
import type { Shutdown } from "./find-shutdowns.js";
import { findLastImport, type BodyParser, type Place } from "./find-places.js";
import { linesBeside, linesInside, linesToEnd } from "./lines-to-close.js";

/** Lines that a person adds by hand. */
export interface LinesToAdd {
  purpose: "import" | "mount" | "start" | "close";
  /** From the app's folder; `null` when it was not found. */
  file: string | null;
  /** Of the file as it is now, from 1; `null` when it was not found. */
  line: number | null;
  /** Where, seen from that line; `inside`: in the function or the statement that begins there. */
  place: "above" | "below" | "inside" | null;
  /** What stands on that line. */
  at: string | null;
  /** What they come before, where their place is in the middle of that line. */
  before?: string;
  lines: string[];
}

export const MOUNT_PATH = "/webhooks/signals";

/** In the order in which a person adds them. */
export function linesToAdd(app: App, sources: ReadonlyMap<string, string>, routerModule: string): LinesToAdd[] {
  const { creation, bodyParser, listen } = app;
  const words = wordsOf(app, (file) => specifierOf(routerModule, file, app.importExtension));
  const mountAt =
    bodyParser !== null
      ? mountBefore(bodyParser)
      : creation?.isChained === false
        ? at(creation, "below")
        : nowhere(creation);
  const mountFile = creation?.file ?? null;
  const startFile = listen?.file ?? null;

  const startAt = listen === null ? nowhere(null) : at(listen, listen.isNested ? "inside" : "above");
  const importing = new Set<string | null>();
  const importInto = (file: string | null, before: number | null): LinesToAdd[] => {
    const line = words.import(file);
    if (line === null || importing.has(file)) return [];
    importing.add(file);
    const lastLine = app.isRequiring ? (before ?? Infinity) : Infinity;
    const place = file === null ? nowhere(null) : importPlace(file, sources.get(file) ?? "", lastLine);
    return [{ purpose: "import", ...place, lines: [line] }];
  };
  return [
    ...importInto(mountFile, mountAt.line),
    { purpose: "mount", ...mountAt, lines: indented(words.mount(mountFile), bodyParser ?? creation) },
    ...importInto(startFile, startAt.line),
    { purpose: "start", ...startAt, lines: indented(words.start(startFile), listen) },
    ...(app.shutdowns.some(({ signals }) => signals.includes("SIGTERM"))
      ? []
      : [{ purpose: "close" as const, ...startAt, lines: indented(linesToEnd(words.closing(startFile)), listen) }]),
    ...app.shutdowns.flatMap((shutdown) => [
      ...importInto(shutdown.file, shutdown.line),
      closeIn(shutdown, words.closing(shutdown.file)),
    ]),
  ];
}

function closeIn(shutdown: Shutdown, closing: string): LinesToAdd {
  const purpose = "close";
  if (shutdown.isOpen) {
    return { purpose, ...at(shutdown, "inside"), lines: indented(linesInside(shutdown, closing), shutdown, "  ") };
  }
  const where = shutdown.isStatement ? at(shutdown, "above") : nowhere(shutdown);
  return { purpose, ...where, lines: indented(linesBeside(shutdown, closing), shutdown) };
}

type Where = Pick<LinesToAdd, "file" | "line" | "place" | "at" | "before">;

/** Above the line there is no app yet where that line makes it. */
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

/** Behind the last import; `before`: where `require` must have been called. */
function importPlace(file: string, source: string, before: number): Where {
  const last = findLastImport(file, source, before);
  if (last !== null) return at(last, "below");
  const [first = ""] = source.split("\n");
  const isDirective = /^(?:#!|["']use strict["'])/.test(first);
  return { file, line: 1, place: isDirective ? "below" : "above", at: first.trim() };
}

function indented(lines: readonly string[], like: Place | null, more = ""): string[] {
  return lines.map((line) => `${like?.indent ?? ""}${more}${line}`);
}

function specifierOf(routerModule: string, file: string | null, importExtension: string): string {
  const path = posix.relative(posix.dirname(file ?? "app"), routerModule);
  return `${path.startsWith(".") ? path : `./${path}`}${importExtension}`;
}

interface Words {
  /** `null` where nothing is imported at the top. */
  import(file: string | null): string | null;
  mount(file: string | null): string[];
  start(file: string | null): string[];
  /** An expression: the promise of its end. */
  closing(file: string | null): string;
}

function wordsOf(app: App, specifier: (file: string | null) => string): Words {
  const mount = (handler: readonly string[]): string[] => {
    const [first = "", ...others] = handler;
    const lines = [`${app.creation?.variable ?? "app"}.use("${MOUNT_PATH}", ${first}`, ...others];
    return [...lines.slice(0, -1), `${lines.at(-1) ?? ""});`];
  };
  if (!app.isLazy) {
    return {
      import: (file) =>
        app.isRequiring
          ? `const { signals } = require("${specifier(file)}");`
          : `import { signals } from "${specifier(file)}";`,
      mount: () => mount(["signals.router"]),
      start: () => orExit("signals.start()"),
      closing: () => "signals.close()",
    };
  }
  if (app.isRequiring) {
    const signals = (file: string | null): string => `require("${specifier(file)}").signals`;
    return {
      import: () => null,
      mount: (file) => mount(["(req, res, next) => {", `  ${signals(file)}.router(req, res, next);`, "}"]),
      start: (file) => orExit(`${signals(file)}.start()`),
      closing: (file) => `${signals(file)}.close()`,
    };
  }
  const loaded = (file: string | null): string => `import("${specifier(file)}")`;
  return {
    import: () => null,
    mount: (file) =>
      mount([
        "(req, res, next) => {",
        `  ${loaded(file)}.then(({ signals }) => signals.router(req, res, next), next);`,
        "}",
      ]),
    start: (file) => orExit(`${loaded(file)}.then(({ signals }) => signals.start())`),
    closing: (file) => `${loaded(file)}.then(({ signals }) => signals.close())`,
  };
}

/** Deliveries get 503 until it is started, and the sender tries again: so nothing has to wait for it. */
function orExit(starting: string): string[] {
  return [`${starting}.catch((error) => {`, "  console.error(error);", "  process.exit(1);", "});"];
}
