import { posix } from "node:path";
import type { App } from "./detect-app.js";
import { findLastImport, placeAt, type Place, type Source } from "./find-places.js";

/** Lines that the user adds to one place of a file. */
export interface LinesToAdd {
  purpose: "import" | "mount" | "start" | "close";
  /** The path relative to the app's folder; `null` if no fitting file was found. */
  file: string | null;
  /** The number of a line in the unchanged file; the first is 1. `null` if no fitting line was found. */
  line: number | null;
  /**
   * Where to add the new lines: above or below that line, `inside` the function or statement that begins on it, or `instead of`
   * the line.
   */
  place: "above" | "below" | "inside" | "instead of" | null;
  /** The text of the line with the number `line`. */
  at: string | null;
  lines: string[];
}

export const MOUNT_PATH = "/webhooks/signals";

/**
 * The lines in the order in which a user adds them.
 *
 * @param routerModule path of the new router from the app's folder, without its extension
 */
export function linesToAdd(app: App, sources: readonly Source[], routerModule: string): LinesToAdd[] {
  const { creation, bodyParser, listen, shutdown } = app;
  const mountAt = mountPlace(app);
  const startAt = listen === null ? NOWHERE : at(listen, listen.isNested ? "inside" : "above");
  const moduleFor = (file: string | null): string => `"${specifierOf(routerModule, file, app.importExtension)}"`;
  const callIn = (file: string | null, call: string): string => callOn(app, moduleFor(file), call);
  const edits: LinesToAdd[] = [
    { purpose: "mount", ...mountAt, lines: indented(mountLines(app, moduleFor(mountAt.file)), bodyParser ?? creation) },
    { purpose: "start", ...startAt, lines: indented(startLines(callIn(startAt.file, "start()")), listen) },
    shutdown === null
      ? { purpose: "close", ...startAt, lines: indented(endLines(callIn(startAt.file, "close()")), listen) }
      : { purpose: "close", ...closeIn(shutdown, callIn(shutdown.file, "close()")) },
  ];
  if (app.isLazy) return edits;
  return edits.flatMap((edit, index) => {
    const { file, line } = edit;
    if (edits.findIndex((each) => each.file === file) < index) return [edit];
    const module = moduleFor(file);
    const text = app.isRequiring ? `const { signals } = require(${module});` : `import { signals } from ${module};`;
    const source = sources.find((each) => each.file === file);
    const where = source === undefined ? NOWHERE : importPlace(source, line ?? Infinity);
    return [{ purpose: "import", ...where, lines: [text] }, edit];
  });
}

type Where = Pick<LinesToAdd, "file" | "line" | "place" | "at">;

function mountPlace({ creation, bodyParser }: App): Where {
  if (bodyParser !== null) return at(bodyParser, "above");
  return creation === null ? NOWHERE : at(creation, "below");
}

function at({ file, line, text }: Place, place: NonNullable<LinesToAdd["place"]>): Where {
  return { file, line, place, at: text };
}

const NOWHERE: Where = { file: null, line: null, place: null, at: null };

function importPlace(source: Source, before: number): Where {
  const last = findLastImport(source, before);
  return last === null ? at(placeAt(source, 0), "above") : at(last, "below");
}

function indented(lines: readonly string[], like: Place | null): string[] {
  return lines.map((line) => `${like?.indent ?? ""}${line}`);
}

function specifierOf(routerModule: string, file: string | null, importExtension: string): string {
  const path = posix.relative(posix.dirname(file ?? "app"), routerModule);
  return `${path.startsWith(".") ? path : `./${path}`}${importExtension}`;
}

/** A call of a method of `signals`. In a lazy app it loads the module first, otherwise the top of the file imports it. */
function callOn({ isLazy }: App, module: string, call: string): string {
  return isLazy ? `import(${module}).then(({ signals }) => signals.${call})` : `signals.${call}`;
}

function mountLines({ creation, isLazy }: App, module: string): string[] {
  const use = `${creation?.variable ?? "app"}.use("${MOUNT_PATH}", `;
  if (!isLazy) return [`${use}signals.router);`];
  // The last `next` passes a failed import to Express, which answers the request with an error.
  const line = `  import(${module}).then(({ signals }) => signals.router(req, res, next), next);`;
  return [`${use}(req, res, next) => {`, line, "});"];
}

/** The app does not wait until the receiver is started. Until then deliveries get 503, and the service sends them again. */
function startLines(starting: string): string[] {
  return [`${starting}.catch((error) => {`, "  console.error(error);", "  process.exit(1);", "});"];
}

/** Lines for an app without a handler of SIGTERM: they add one that closes the receiver and ends the process. */
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

/** A line with a function: what is before it, `async`, its signature (of a `function`, or of an arrow function), and the rest. */
const HANDLER =
  /^(.*?)(async\s+)?(?:(function\b[^()]*\([^()]*\)[^({]*)(?=\{)|((?:\([^()]*\)(?:\s*:\s*void)?|[A-Za-z_$][\w$]*)\s*=>)\s*)(\S.*)$/;

/**
 * Closes the receiver in the app's handler of SIGTERM. A second listener would not do, because the app's own handler may end
 * the process. To `await`, the handler has to be async and to have braces: if it is or has not, its line is replaced.
 */
function closeIn(shutdown: Place, closing: string): Where & Pick<LinesToAdd, "lines"> {
  const { text } = shutdown;
  const closes = `  await ${closing};`;
  const [, head = "", isAsync, named, arrow, rest = ""] = HANDLER.exec(text) ?? [];
  const signature = named ?? arrow;
  const isOpen = /^\{\s*(?:\/\/.*)?$/.test(rest);
  if (signature === undefined || (!isOpen && rest.includes("//"))) {
    const where =
      "  // In the function that runs at SIGTERM and SIGINT, before it calls process.exit(). It has to be async:";
    return { ...at(shutdown, "inside"), lines: indented([where, closes], shutdown) };
  }
  if (isOpen && isAsync !== undefined) return { ...at(shutdown, "inside"), lines: indented([closes], shutdown) };
  const begin = `${head}async ${signature.trim().replace(/:\s*void\b/, ": Promise<void>")}`;
  // If the function is an argument, the call that it belongs to ends behind it.
  const end = head.split("(").length > head.split(")").length ? /\)\s*;?$/ : /;?$/;
  const body = rest
    .replace(end, "")
    .replace(/^\{(.*)\}$/, "$1")
    .trim();
  const lines = isOpen
    ? [`${begin} ${rest}`, closes]
    : [`${begin} {`, closes, `  ${body.replace(/;?$/, ";")}`, `}${end.exec(rest)?.[0] ?? ""}`];
  return { ...at(shutdown, "instead of"), lines: indented(lines, shutdown) };
}
