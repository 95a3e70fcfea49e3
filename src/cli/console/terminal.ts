import { relative } from "node:path";
import type { WriteStream } from "node:tty";
import { styleText, stripVTControlCharacters } from "node:util";
import { visible as printable } from "../../base/text/visible-text.js";
import { environmentError } from "./exit.js";

const STYLES = ["bold", "dim", "red", "green", "yellow"] as const;

/** Functions that colour text, or return it unchanged if the output is not a terminal. */
export type Paint = Readonly<Record<(typeof STYLES)[number], (text: string) => string>>;

/**
 * Data and verdicts go to `print`, `printJson` and `write` (stdout); everything else to `note`
 * (stderr). On a terminal `print` and `note` break long lines between words.
 */
export interface Terminal {
  print(line: string): void;
  printJson(value: unknown): void;
  /** Writes data as they are. Resolves when stdout accepts more data. */
  write(data: string | Uint8Array): Promise<void>;
  note(line: string): void;
  /**
   * Shows the progress of long work on stderr, if stderr is a terminal and stdout is not. `null`
   * removes the line.
   */
  progress(text: string | null): void;
  /**
   * Resolves when all is written, or nobody reads. @throws CliError, because a full disk must not
   * look like success
   */
  flush(): Promise<void>;
  /** The reader of stdout has ended (`| head`), or stdout failed. Further output is dropped. */
  readonly isClosed: boolean;
  /**
   * Resolves when a line could not be printed, because the reader of stdout has ended. Node does
   * not tell it earlier.
   */
  readonly closed: Promise<void>;
  /** The width of stdout; `Infinity` if it is not a terminal. */
  readonly columns: number;
  readonly paint: Paint;
  readonly notePaint: Paint;
}

type Output = Pick<WriteStream, "write" | "on" | "once" | "off"> & {
  isTTY?: boolean;
  columns?: number;
};

/** Some terminals report 0 columns. */
const columnsOf = ({ isTTY, columns = 0 }: Output): number =>
  isTTY === true && columns > 0 ? columns : Infinity;

export function createTerminal(stdout: Output, stderr: Output, env: NodeJS.ProcessEnv): Terminal {
  let isClosed = false;
  let onClosed!: () => void;
  const closed = new Promise<void>((resolve) => {
    onClosed = resolve;
  });
  let failure: string | null = null;
  let isProgressShown = false;
  // Without a listener, the error of a closed pipe would end the process with a stack trace.
  stdout.on("error", ({ code, message }: NodeJS.ErrnoException) => {
    isClosed = true;
    onClosed();
    if (code !== "EPIPE") failure ??= code ?? message;
  });
  stderr.on("error", () => undefined);

  function progress(text: string | null): void {
    if (stderr.isTTY !== true || stdout.isTTY === true) return;
    if (text === null && !isProgressShown) return;
    stderr.write(`\r\u001b[K${(text ?? "").slice(0, columnsOf(stderr) - 1)}`);
    isProgressShown = text !== null;
  }

  const writeLine = (line: string): void => {
    if (!isClosed) stdout.write(`${line}\n`);
  };

  return {
    print: (line) => writeLine(wrap(line, columnsOf(stdout))),
    printJson: (value) => writeLine(printable(JSON.stringify(value))),
    write(data) {
      if (isClosed || stdout.write(data)) return Promise.resolve();
      return new Promise((resolve) => {
        const proceed = (): void => {
          for (const name of ["drain", "error", "close"]) stdout.off(name, proceed);
          resolve();
        };
        for (const name of ["drain", "error", "close"]) stdout.once(name, proceed);
      });
    },
    async flush() {
      // The error event is emitted a tick after the callback of its write, so this waits one tick
      // more.
      if (!isClosed)
        await new Promise<void>((resolve) => stdout.write("", () => setImmediate(resolve)));
      if (failure !== null) throw environmentError(`cannot write to stdout (${failure})`);
    },
    note(line) {
      progress(null);
      stderr.write(`${wrap(line, columnsOf(stderr))}\n`);
    },
    progress,
    closed,
    get columns() {
      return columnsOf(stdout);
    },
    get isClosed() {
      return isClosed;
    },
    paint: createPaint(stdout, env),
    notePaint: createPaint(stderr, env),
  };
}

function createPaint(stream: Output, env: NodeJS.ProcessEnv): Paint {
  const isOn = stream.isTTY === true && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
  // Without validation, because Node would look at stdout alone and at the variables of the
  // process.
  const paint = (style: (typeof STYLES)[number]) => (text: string) =>
    isOn ? styleText(style, text, { validateStream: false }) : text;
  const entries = STYLES.map((style) => [style, paint(style)]);
  return Object.fromEntries(entries) as Paint;
}

/** Lines with aligned columns and two spaces between them. Cells can have colours. */
export function formatTable(rows: Rows, leastWidths: readonly number[] = []): string[] {
  const widths = widthsOf(rows, leastWidths);
  return rows.map((row) => {
    const padded = row.map(
      (cell, column) => cell + " ".repeat((widths[column] ?? 0) - widthOf(cell)),
    );
    return padded.join("  ").trimEnd();
  });
}

type Rows = readonly (readonly string[])[];

function widthsOf(rows: Rows, least: readonly number[] = []): number[] {
  const widths = [...least];
  for (const row of rows) {
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, widthOf(cell));
    });
  }
  return widths;
}

const LEAST_CELL = 6;

/** Cuts cells until the table fits. The widest column gives way first, the `whole` first ones never. */
export function cutToFit(rows: Rows, whole: number, columns: number): string[][] {
  const safe = rows.map((row) => row.map(printable));
  const widths = widthsOf(safe);
  const widest = (): number => Math.max(LEAST_CELL, ...widths.slice(whole));
  while (widths.reduce((sum, width) => sum + width + 2, -2) > columns && widest() > LEAST_CELL)
    widths[widths.lastIndexOf(widest())] = widest() - 1;
  return safe.map((row) => row.map((cell, column) => shortened(cell, widths[column] ?? 0)));
}

/** A text is beside its label if it has at least this many columns there. */
const LEAST_BESIDE = 28;
const INDENT = 4;

/**
 * Breaks the lines that are longer than `columns` between words. Two spaces separate the columns of
 * a table: the last one continues below its start, if there is room. A line that begins with `$ `
 * is a shell command. It is broken with backslashes, so that it can be copied.
 */
export function wrap(text: string, columns: number): string {
  return text
    .split("\n")
    .map((line) => wrapLine(line, columns))
    .join("\n");
}

function wrapLine(line: string, columns: number): string {
  if (widthOf(line) <= columns) return line;
  const visible = stripVTControlCharacters(line);
  const indent = visible.search(/\S/);
  if (SHELL_COMMAND.test(visible))
    return fill(line.match(SHELL_WORD) ?? [], indent + INDENT, columns, " \\");
  const [head = ""] = /^.*\S {2,}/s.exec(line) ?? [];
  const words = line.slice(head.length).split(BEFORE_GAP);
  const start = head === "" ? indent : widthOf(head);
  const room = Math.max(LEAST_BESIDE, ...words.map((word) => widthOf(word.trimStart())));
  if (head !== "" && columns - start < room)
    return fill(line.split(BEFORE_GAP), indent + INDENT, columns);
  return fill([head + (words[0] ?? ""), ...words.slice(1)], start, columns);
}

const SHELL_COMMAND = /^ *\$ /;
const BEFORE_GAP = /(?<=\S)(?= )/;
/**
 * A word of a shell command with the spaces before it. An option has its value with it; `|` and `>`
 * have the next word.
 */
const SHELL_WORD =
  /\s*(?:(?:--?[A-Za-z][\w-]*|[|>]) (?![-|>]))?(?:\\.|'[^']*'|"[^"]*"|\$\([^)]*\)|\S)+/g;

/**
 * Joins the pieces, each with the spaces before it, to lines. All lines but the first begin with
 * `indent` spaces.
 */
function fill(pieces: readonly string[], indent: number, columns: number, lineEnd = ""): string {
  const lines: string[] = [];
  let line = "";
  for (const piece of pieces) {
    if (line.trim() === "" || widthOf(line + piece + lineEnd) <= columns) line += piece;
    else {
      lines.push(line.trimEnd() + lineEnd);
      line = " ".repeat(indent) + piece.trimStart();
    }
  }
  return [...lines, line].join("\n");
}

/** Characters that are two columns wide, such as Chinese ones. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]|[\u{1f300}-\u{3fffd}]/gu;

/** How many columns of a terminal the text needs. Colours need none. */
function widthOf(text: string): number {
  return stripVTControlCharacters(text).replaceAll(WIDE, "xx").length;
}

export { printable };

/**
 * A typed or stored text for use inside a message, shortened so that the message stays readable.
 */
export function echoed(text: string): string {
  return shortened(text, 81);
}

/** The text on one line, cut to at most so many columns. */
export function shortened(text: string, columns: number): string {
  const safe = printable(text);
  if (widthOf(safe) <= columns) return safe;
  let end = columns - 1;
  while (widthOf(safe.slice(0, end)) >= columns) end -= 1;
  return `${safe.slice(0, end)}…`;
}

const SHOWN_NAMES = 5;

export function someNames(names: readonly string[]): string {
  const others = names.length - SHOWN_NAMES;
  return others <= 0
    ? names.join(", ")
    : `${names.slice(0, SHOWN_NAMES).join(", ")} and ${others} more`;
}

export function shellQuote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The `cd` command for a folder; `null` for the current folder. */
export function cdCommand(directory: string): string | null {
  const path = relative(process.cwd(), directory);
  if (path === "") return null;
  // `cd` would read a name that begins with a dash as an option.
  return `cd ${path.startsWith("-") ? "./" : ""}${shellQuote(path)}`;
}
