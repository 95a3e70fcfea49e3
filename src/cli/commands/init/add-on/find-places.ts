import { stripComments } from "./strip-comments.js";

/** A line of a source, for a person to find. */
export interface Place {
  /** From the app's folder, with `/`. */
  file: string;
  /** From 1. */
  line: number;
  /** What stands there, without its indentation. */
  text: string;
  indent: string;
}

/** Where an Express app is made. */
export interface AppCreation extends Place {
  /** `app`, or `this.app`. */
  variable: string;
  /** `express().use(…)`: nothing can be put behind it. */
  isChained: boolean;
}

const CREATION =
  /(?:^|[^\w$.])((?:this\.)?[A-Za-z_$][\w$]*)\s*(?::[^=;\n]+)?=\s*(?:express|require\(["']express["']\))\s*\(\s*\)(\s*\.\w)?/;

export function findCreation(file: string, source: string): AppCreation | null {
  const code = stripComments(source);
  const match = CREATION.exec(code);
  if (match === null) return null;
  const [found, variable = "app", chain] = match;
  // The line where the statement ends, for one that is written on several.
  const place = placeAt(file, source, match.index + found.length - (chain?.length ?? 0) - 1);
  return { ...place, variable, isChained: chain !== undefined };
}

const PARSERS = "(?:json|urlencoded|raw|text)";

/** Where the app runs a parser of bodies. */
export interface BodyParser extends Place {
  /** `app.use(express.json())`, where the line makes the app too; `null`: a line above it will do. */
  behindCreation: string | null;
}

/** The first that the app runs. */
export function findBodyParser(file: string, source: string, creation: AppCreation): BodyParser | null {
  const { variable } = creation;
  const code = stripComments(source);
  const app = variable.replaceAll(/[.$]/g, "\\$&");
  const path = "(?:[\"'`][^\"'`]*[\"'`]\\s*,\\s*)?";
  const parser = new RegExp(
    `(?<![\\w$.])${app}\\s*\\.use\\(\\s*${path}(?:(?:\\w+\\s*\\.\\s*)?${PARSERS}|bodyParser)\\s*\\(`,
  ).exec(code);
  if (parser === null) return null;
  const place = placeAt(file, source, parser.index);
  if (goesOn(place, source)) return null;
  return { ...place, behindCreation: place.line === creation.line ? callAt(code, parser.index) : null };
}

/** As much of a call as stands on its first line. */
function callAt(code: string, index: number): string {
  const [line = ""] = code.slice(index).split("\n");
  let depth = 0;
  for (const { index: at, 0: bracket } of line.matchAll(/[()]/g)) {
    depth += bracket === "(" ? 1 : -1;
    if (depth === 0) return line.slice(0, at + 1);
  }
  return line.trim();
}

/** Where an app begins to listen. */
export interface Listen extends Place {
  /** `if (…) app.listen(…)`: what is put above it would run without it. */
  isNested: boolean;
  /** The port, or the one where the environment names none; `null` when it cannot be seen. */
  port: number | null;
}

export function findListen(file: string, source: string): Listen | null {
  const code = stripComments(source);
  const call = /\.listen\s*\(/.exec(code);
  if (call === null) return null;
  let place = placeAt(file, source, call.index);
  // A call that goes over lines: `createServer(app)`, then `.listen(…)`.
  const lines = source.split("\n");
  while (/^[.)]/.test(place.text) && place.line > 1) place = placeOf(file, lines, place.line - 1);
  const head = place.text.split(".listen")[0] ?? "";
  const port = portIn(code.slice(call.index + call[0].length), code);
  return { ...place, isNested: NESTED.test(head) || goesOn(place, source), port };
}

/** Alone, or for want of another. */
const PORT = /(?:^|(?:\|\||\?\?)\s*)["'`]?(\d+)(?![\w.])/;

/** @param call what stands behind `.listen(` */
function portIn(call: string, code: string): number | null {
  const object = /^\s*\{[^}]*?\bport\s*:\s*([^,}\n]+)/.exec(call)?.[1];
  // The first argument; the brackets of a call such as `Number(…)` may stand in it.
  const given = object ?? /^\s*((?:[^,()\n]|\([^()\n]*\))+)/.exec(call)?.[1] ?? "";
  const name = /^(?:[A-Za-z_$][\w$]*)$/.exec(given.trim())?.[0].replaceAll("$", "\\$&");
  const value =
    name === undefined
      ? given
      : new RegExp(`(?<![\\w$.])${name}\\s*(?::[^=\\n]+)?=(?![=>])\\s*([^;\\n]+)`).exec(code)?.[1];
  const port = Number(PORT.exec((value ?? "").trim())?.[1] ?? 0);
  return port > 0 && port <= 65_535 ? port : null;
}

const NESTED = /^(?:if|else|for|while|do|try)\b|[{?]|=>|&&|\|\|/;
const UNFINISHED = /(?:^|[^\w$])(?:if|while|for)\b.*\)$|(?:=>|[=(,?:&|+[]|\belse)$/;

/** Whether the line is the rest of a statement that began above it. */
export function goesOn({ line }: Place, source: string): boolean {
  const above = stripComments(source)
    .split("\n")
    .slice(0, line - 1);
  return UNFINISHED.test((above.findLast((each) => each.trim() !== "") ?? "").trim());
}

const IMPORT = /^import\s(?:[^;"'`]*?\sfrom\s*)?["'][^"'\n]+["'];?/gm;
const REQUIRE = /^(?:const|let|var)\s[^;=]*?=\s*require\(["'][^"'\n]+["']\)[^\n]*$/gm;

/**
 * The last line of the imports.
 *
 * @param before a line that they must stand above; those below are not looked at
 */
export function findLastImport(file: string, source: string, before: number): Place | null {
  const code = stripComments(source);
  const ends = [...code.matchAll(IMPORT), ...code.matchAll(REQUIRE)].map(({ index, [0]: found }) =>
    placeAt(file, source, index + found.length - 1),
  );
  return ends.filter(({ line }) => line < before).sort((a, b) => b.line - a.line)[0] ?? null;
}

export function placeAt(file: string, source: string, index: number): Place {
  return placeOf(file, source.split("\n"), source.slice(0, index).split("\n").length);
}

function placeOf(file: string, lines: readonly string[], line: number): Place {
  const text = (lines[line - 1] ?? "").replace(/\r$/, "");
  return { file, line, text: text.trim(), indent: /^\s*/.exec(text)?.[0] ?? "" };
}
