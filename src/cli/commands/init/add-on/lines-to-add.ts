import { posix } from "node:path";
import type { App } from "./detect-app.js";
import { findLastImport, placeAt, type Place, type Shutdown, type Source } from "./find-places.js";

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
  lines: string[];
}

export const MOUNT_PATH = "/webhooks/signals";

/**
 * In the order in which a user adds them.
 *
 * @param routerModule path of the new router from the app's folder, without its ending
 */
export function linesToAdd(app: App, sources: readonly Source[], routerModule: string): LinesToAdd[] {
  const { creation, bodyParser, listen, shutdown } = app;
  const mountAt = mountPlace(app);
  const startAt = listen === null ? nowhere(null) : at(listen, listen.isNested ? "inside" : "above");
  const moduleFor = (file: string | null): string => `"${specifierOf(routerModule, file, app.importExtension)}"`;
  const callIn = (file: string | null, call: string): string => callOn(app, moduleFor(file), call);
  const edits: LinesToAdd[] = [
    { purpose: "mount", ...mountAt, lines: indented(mountLines(app, moduleFor(mountAt.file)), bodyParser ?? creation) },
    { purpose: "start", ...startAt, lines: indented(startLines(callIn(startAt.file, "start()")), listen) },
    shutdown === null
      ? { purpose: "close", ...startAt, lines: indented(endLines(callIn(startAt.file, "close()")), listen) }
      : {
          purpose: "close",
          ...at(shutdown, "inside"),
          lines: indented(closeLines(shutdown, callIn(shutdown.file, "close()")), shutdown, "  "),
        },
  ];
  if (app.isLazy) return edits;
  return edits.flatMap((edit, index) => {
    const { file, line } = edit;
    if (edits.findIndex((each) => each.file === file) < index) return [edit];
    const module = moduleFor(file);
    const text = app.isRequiring ? `const { signals } = require(${module});` : `import { signals } from ${module};`;
    const source = sources.find((each) => each.file === file);
    const where = source === undefined ? nowhere(null) : importPlace(source, line ?? Infinity);
    return [{ purpose: "import", ...where, lines: [text] }, edit];
  });
}

type Where = Pick<LinesToAdd, "file" | "line" | "place" | "at">;

function mountPlace({ creation, bodyParser }: App): Where {
  if (bodyParser === null) return creation === null ? nowhere(null) : at(creation, "below");
  // On the line that makes the app there is no place between the two.
  return bodyParser.line === creation?.line ? nowhere(bodyParser) : at(bodyParser, "above");
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
  const first = placeAt(source, 0);
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
function callOn({ isLazy }: App, module: string, call: string): string {
  return isLazy ? `import(${module}).then(({ signals }) => signals.${call})` : `signals.${call}`;
}

function mountLines({ creation, isLazy }: App, module: string): string[] {
  const use = `${creation?.variable ?? "app"}.use("${MOUNT_PATH}", `;
  if (!isLazy) return [`${use}signals.router);`];
  // What cannot be loaded is an error of the request.
  const line = `  import(${module}).then(({ signals }) => signals.router(req, res, next), next);`;
  return [`${use}(req, res, next) => {`, line, "});"];
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

/** For an app that has one. */
function closeLines({ isOpen, isAsync }: Shutdown, closing: string): string[] {
  if (!isOpen) {
    const where = "// In the function that runs at SIGTERM and SIGINT, before it calls process.exit():";
    return [where, `await ${closing};`];
  }
  if (isAsync) return [`await ${closing};`];
  // `await` would be a syntax error here.
  return [
    `${closing}.catch(console.error).then(() => {`,
    "  // Move process.exit() here, if your app calls it: it waits for nothing.",
    "});",
  ];
}
