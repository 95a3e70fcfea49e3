import type { WriteStream } from "node:tty";
import { environmentError } from "../options/exit.js";
import { createPaint, type Paint } from "./paint.js";
import { printable } from "./printable.js";

/** Data goes to `print`, `printJson` and `write` (stdout); everything else to `note` (stderr). */
export interface Terminal {
  print(line: string): void;
  /** One line of NDJSON. */
  printJson(value: unknown): void;
  /** Resolves when there is room for more. */
  write(data: string | Uint8Array): Promise<void>;
  note(line: string): void;
  /** Shows the progress of long work on stderr, if that is a terminal and stdout is not. `null` removes the line. */
  progress(text: string | null): void;
  /**
   * Resolves when all data are written, or when the reader of stdout is gone.
   *
   * @throws CliError when data could not be written: a full disk must not look like success
   */
  flush(): Promise<void>;
  /** The reader of stdout is gone (`| head`), or stdout failed. What is printed from now on is lost. */
  readonly isClosed: boolean;
  /** Colours for stdout. */
  readonly paint: Paint;
  /** Colours for stderr. */
  readonly notePaint: Paint;
}

type Output = Pick<WriteStream, "write" | "on" | "once" | "off"> & { isTTY?: boolean };

export function createTerminal(stdout: Output, stderr: Output, env: NodeJS.ProcessEnv): Terminal {
  let isClosed = false;
  let failure: string | null = null;
  let isProgressShown = false;
  // Without a listener, the error of a closed pipe ends the process with a stack trace.
  stdout.on("error", ({ code, message }: NodeJS.ErrnoException) => {
    isClosed = true;
    if (code !== "EPIPE") failure ??= code ?? message;
  });
  stderr.on("error", () => undefined);

  function progress(text: string | null): void {
    if (stderr.isTTY !== true || stdout.isTTY === true) return;
    if (text === null && !isProgressShown) return;
    stderr.write(text === null ? "\r\u001b[K" : `\r\u001b[K${text}`);
    isProgressShown = text !== null;
  }

  const print = (line: string): void => {
    if (!isClosed) stdout.write(`${line}\n`);
  };

  return {
    print,
    printJson: (value) => print(printable(JSON.stringify(value))),
    write(data) {
      if (isClosed || stdout.write(data)) return Promise.resolve();
      return new Promise((resolve) => {
        const go = (): void => {
          for (const name of ["drain", "error", "close"]) stdout.off(name, go);
          resolve();
        };
        for (const name of ["drain", "error", "close"]) stdout.once(name, go);
      });
    },
    async flush() {
      // The event of an error comes a tick after the callback of its write.
      if (!isClosed) await new Promise<void>((resolve) => stdout.write("", () => setImmediate(resolve)));
      if (failure !== null) throw environmentError(`cannot write to stdout (${failure})`);
    },
    note(line) {
      progress(null);
      stderr.write(`${line}\n`);
    },
    progress,
    get isClosed() {
      return isClosed;
    },
    paint: createPaint(hasColour(stdout, env)),
    notePaint: createPaint(hasColour(stderr, env)),
  };
}

function hasColour(stream: Output, env: NodeJS.ProcessEnv): boolean {
  return stream.isTTY === true && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
}
