import type { WriteStream } from "node:tty";
import { styleText } from "node:util";
import { environmentError } from "./exit.js";
import { printable } from "./printable.js";
import { wrap } from "./wrap.js";

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
