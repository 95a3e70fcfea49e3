/** A source file of an app. */
export interface Source {
  /** The path relative to the app's folder, with `/`. */
  file: string;
  text: string;
  /** The text with spaces in place of its comments. Indexes and line numbers are the same as in `text`. */
  code: string;
}

const STRING_OR_COMMENT = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|\/\/[^\n]*|\/\*[^]*?\*\//g;

export function sourceOf(file: string, text: string): Source {
  // Strings are matched too, so that `//` in a string does not count as a comment.
  const code = text.replaceAll(STRING_OR_COMMENT, (piece) =>
    piece.startsWith("/") ? piece.replaceAll(/[^\n]/g, " ") : piece,
  );
  return { file, text, code };
}

/** A line of a source, as it is shown to the user. */
export interface Place {
  file: string;
  /** The line number; the first line is 1. */
  line: number;
  /** The line without its indentation. */
  text: string;
  indent: string;
}

/** The line that creates the Express app. */
export interface AppCreation extends Place {
  /** The variable that holds the Express app, for example `app` or `this.app`. */
  variable: string;
}

/** Does not match `app = express().use(…)`: a line inserted below it might split the statement. */
const CREATION =
  /(?:^|[^\w$.])((?:this\.)?[A-Za-z_$][\w$]*)\s*(?::[^=;\n]+)?=\s*(?:express|require\(["']express["']\))\s*\(\s*\)(?!\s*\.)/;

export function findCreation(source: Source): AppCreation | null {
  const match = CREATION.exec(source.code);
  if (match === null) return null;
  const [found, variable = "app"] = match;
  return { ...placeAt(source, match.index + found.length - 1), variable };
}

/** The first body parser of the app. */
export function findBodyParser(source: Source, { variable }: AppCreation): Place | null {
  const path = "(?:[\"'`][^\"'`]*[\"'`]\\s*,\\s*)?";
  const name = "(?:(?:\\w+\\s*\\.\\s*)?(?:json|urlencoded|raw|text)|bodyParser)";
  return placeOf(source, new RegExp(`(?<![\\w$.])${escaped(variable)}\\s*\\.use\\(\\s*${path}${name}\\s*\\(`));
}

/** The line that calls `listen`. */
export interface Listen extends Place {
  /** `listen` is inside another statement, such as `if (…) app.listen(…)`. A line above it would run even if `listen` does not. */
  isNested: boolean;
}

const NESTED = /^(?:if|else|for|while|do|try)\b|^[.)]|[{?]|=>|&&|\|\|/;

export function findListen(source: Source): Listen | null {
  const place = placeOf(source, /\.listen\s*\(/);
  if (place === null) return null;
  const head = place.text.slice(0, place.text.indexOf(".listen") + 1);
  return { ...place, isNested: NESTED.test(head) };
}

/** The line where the app's handler of SIGTERM begins. */
export function findShutdown(source: Source): Place | null {
  const listener = /process\s*\.\s*(?:on|once)\s*\(\s*["'`]SIGTERM["'`]\s*,\s*(?:([A-Za-z_$][\w$]*)\s*\))?/;
  const handler = listener.exec(source.code)?.[1];
  return (
    (handler === undefined ? null : definitionOf(handler, source)) ??
    placeOf(source, listener) ??
    // Without such a listener, SIGTERM may still be in a list of signal names, or in a call of a library.
    placeOf(source, /["'`]SIGTERM["'`]/)
  );
}

function definitionOf(handler: string, source: Source): Place | null {
  const asFunction = `(?:async\\s+)?function\\s+${escaped(handler)}\\s*\\(`;
  const asVariable = `(?:const|let|var)\\s+${escaped(handler)}\\s*(?::[^=\\n]+)?=\\s*(?:async\\b|function\\b|\\()`;
  return placeOf(source, new RegExp(`(?<![\\w$.])(?:${asFunction}|${asVariable})`));
}

const IMPORT =
  /^import\s(?:[^;"'`]*?\sfrom\s*)?["'][^"'\n]+["'];?|^(?:const|let|var)\s[^;=]*?=\s*require\(["'][^"'\n]+["']\)[^\n]*$/gm;

/** The last import above the line `before`, which uses the module: a `require` below that line would run too late. */
export function findLastImport(source: Source, before: number): Place | null {
  const ends = [...source.code.matchAll(IMPORT)].map(({ index, 0: found }) =>
    placeAt(source, index + found.length - 1),
  );
  return ends.findLast(({ line }) => line < before) ?? null;
}

function placeOf(source: Source, pattern: RegExp): Place | null {
  const index = source.code.search(pattern);
  return index === -1 ? null : placeAt(source, index);
}

export function placeAt({ file, text }: Source, index: number): Place {
  const line = text.slice(0, index).split("\n").length;
  const found = (text.split("\n")[line - 1] ?? "").replace(/\r$/, "");
  return { file, line, text: found.trim(), indent: /^\s*/.exec(found)?.[0] ?? "" };
}

function escaped(name: string): string {
  return name.replaceAll(/[.$]/g, "\\$&");
}
