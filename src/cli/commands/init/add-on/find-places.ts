/** A source file of an app. */
export interface Source {
  /** From the app's folder, with `/`. */
  file: string;
  text: string;
  /** The same text with blanks for comments, so that an index or a line is that of the text. */
  code: string;
}

export function sourceOf(file: string, text: string): Source {
  return { file, text, code: stripComments(text) };
}

const STRING_OR_COMMENT = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|\/\/[^\n]*|\/\*[^]*?\*\//g;

/** Blanks for comments. A string that holds `//` stays. */
export function stripComments(text: string): string {
  return text.replaceAll(STRING_OR_COMMENT, (piece) =>
    piece.startsWith("/") ? piece.replaceAll(/[^\n]/g, " ") : piece,
  );
}

/** A line of a source, for a user to find. */
export interface Place {
  file: string;
  /** From 1. */
  line: number;
  /** The line without its indentation. */
  text: string;
  indent: string;
}

/** Where an Express app is made. */
export interface AppCreation extends Place {
  /** `app`, or `this.app`. */
  variable: string;
  /** `express().use(…)`: no line can be put behind it. */
  isChained: boolean;
}

const CREATION =
  /(?:^|[^\w$.])((?:this\.)?[A-Za-z_$][\w$]*)\s*(?::[^=;\n]+)?=\s*(?:express|require\(["']express["']\))\s*\(\s*\)(\s*\.\w)?/;

export function findCreation(source: Source): AppCreation | null {
  const match = CREATION.exec(source.code);
  if (match === null) return null;
  const [found, variable = "app", chain] = match;
  // A statement of several lines: its last line.
  const place = placeAt(source, match.index + found.length - (chain?.length ?? 0) - 1);
  return { ...place, variable, isChained: chain !== undefined };
}

/** Where the app runs a parser of bodies. */
export interface BodyParser extends Place {
  /** `app.use(express.json())`, if the same line makes the app; `null`: the mount can stand on the line above. */
  behindCreation: string | null;
}

/** The first one that the app runs. */
export function findBodyParser(source: Source, creation: AppCreation): BodyParser | null {
  const path = "(?:[\"'`][^\"'`]*[\"'`]\\s*,\\s*)?";
  const name = "(?:(?:\\w+\\s*\\.\\s*)?(?:json|urlencoded|raw|text)|bodyParser)";
  const use = new RegExp(`(?<![\\w$.])${escaped(creation.variable)}\\s*\\.use\\(\\s*${path}${name}\\s*\\(`);
  const index = source.code.search(use);
  if (index === -1) return null;
  const place = placeAt(source, index);
  if (continuesStatement(place, source)) return null;
  return { ...place, behindCreation: place.line === creation.line ? callAt(source.code, index) : null };
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
  /** `if (…) app.listen(…)`: a line above it would run even when it does not. */
  isNested: boolean;
  /** The port, or the default where the environment names none; `null` if the source does not show it. */
  port: number | null;
}

const NESTED = /^(?:if|else|for|while|do|try)\b|[{?]|=>|&&|\|\|/;

export function findListen(source: Source): Listen | null {
  const call = /\.listen\s*\(/.exec(source.code);
  if (call === null) return null;
  let place = placeAt(source, call.index);
  // A call of several lines: `createServer(app)`, then `.listen(…)`.
  while (/^[.)]/.test(place.text) && place.line > 1) place = placeOf(source, place.line - 1);
  const [head = ""] = place.text.split(".listen");
  const port = portIn(source.code.slice(call.index + call[0].length), source.code);
  return { ...place, isNested: NESTED.test(head) || continuesStatement(place, source), port };
}

/** `3000`, or the last value of `process.env.PORT || 3000`. */
const PORT = /(?:^|(?:\|\||\?\?)\s*)["'`]?(\d+)(?![\w.])/;

/** @param call what stands behind `.listen(` */
function portIn(call: string, code: string): number | null {
  const inObject = /^\s*\{[^}]*?\bport\s*:\s*([^,}\n]+)/.exec(call)?.[1];
  // The first argument. It may hold the brackets of a call such as `Number(…)`.
  const argument = inObject ?? /^\s*((?:[^,()\n]|\([^()\n]*\))+)/.exec(call)?.[1] ?? "";
  const isName = /^[A-Za-z_$][\w$]*$/.test(argument.trim());
  const definition = `(?<![\\w$.])${escaped(argument.trim())}\\s*(?::[^=\\n]+)?=(?![=>])\\s*([^;\\n]+)`;
  const value = isName ? (new RegExp(definition).exec(code)?.[1] ?? "") : argument;
  const port = Number(PORT.exec(value.trim())?.[1] ?? 0);
  return port > 0 && port <= 65_535 ? port : null;
}

const UNFINISHED = /(?:^|[^\w$])(?:if|while|for)\b.*\)$|(?:=>|[=(,?:&|+[]|\belse)$/;

/** Whether the line is the rest of a statement that began above it. */
export function continuesStatement({ line }: Place, { code }: Source): boolean {
  const above = code.split("\n").slice(0, line - 1);
  return UNFINISHED.test((above.findLast((each) => each.trim() !== "") ?? "").trim());
}

const IMPORT =
  /^import\s(?:[^;"'`]*?\sfrom\s*)?["'][^"'\n]+["'];?|^(?:const|let|var)\s[^;=]*?=\s*require\(["'][^"'\n]+["']\)[^\n]*$/gm;

/**
 * The last line of the imports.
 *
 * @param before only imports above this line count
 */
export function findLastImport(source: Source, before: number): Place | null {
  const ends = [...source.code.matchAll(IMPORT)].map(({ index, 0: found }) =>
    placeAt(source, index + found.length - 1),
  );
  return ends.findLast(({ line }) => line < before) ?? null;
}

export function placeAt(source: Source, index: number): Place {
  return placeOf(source, source.text.slice(0, index).split("\n").length);
}

export function placeOf({ file, text }: Source, line: number): Place {
  const found = (text.split("\n")[line - 1] ?? "").replace(/\r$/, "");
  return { file, line, text: found.trim(), indent: /^\s*/.exec(found)?.[0] ?? "" };
}

/** A name, for a regular expression. */
export function escaped(name: string): string {
  return name.replaceAll(/[.$]/g, "\\$&");
}
