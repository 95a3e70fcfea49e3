import { setMaxListeners } from "node:events";
import { Readable, Writable } from "node:stream";
import { createTerminal } from "../../src/cli/console/terminal.js";
import { runCli } from "../../src/cli/run.js";
import { SECRET, type CliOptions, type CliRun } from "./run-cli.js";

export interface CallOptions extends CliOptions {
  /** As Ctrl-C aborts it. */
  signal?: AbortSignal;
  /** Called with what is printed on stdout. */
  onOutput?: (text: string) => void;
  /** Makes stdout and stderr terminals of this width. */
  columns?: number;
}

/**
 * Runs the command line in this process: a new process takes a quarter of a second. What only a
 * process has (its exit code, signals, a closed pipe) is tested with `runCli`.
 */
export async function callCli(
  args: readonly string[],
  {
    input = "",
    env = {},
    signal = new AbortController().signal,
    onOutput,
    columns,
  }: CallOptions = {},
): Promise<CliRun> {
  const screen = columns === undefined ? {} : { isTTY: true, columns };
  const stdout = collector(screen, onOutput);
  const stderr = collector(screen);
  const variables = { SIGNALS_SECRET: SECRET, ...env };
  // As in a process of its own: one listener for each request in flight is no leak.
  setMaxListeners(0, signal);
  const exitCode = await runCli(args, {
    env: variables,
    stdin: Readable.from([Buffer.from(input)]) as NodeJS.ReadStream,
    stderr: stderr.stream as unknown as NodeJS.WriteStream,
    terminal: createTerminal(stdout.stream, stderr.stream, variables),
    signal,
    setUnfinished: () => undefined,
  });
  const text = stdout.text();
  return {
    exitCode,
    stdout: text,
    stderr: stderr.text(),
    lines: text.split("\n").filter((line) => line !== ""),
  };
}

type Output = Parameters<typeof createTerminal>[0];

function collector(
  screen: { isTTY?: boolean; columns?: number },
  onOutput: (text: string) => void = () => undefined,
): { stream: Output; text: () => string } {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      onOutput(String(chunk));
      done();
    },
  });
  return {
    stream: Object.assign(stream, screen) as unknown as Output,
    text: () => Buffer.concat(chunks).toString("utf8"),
  };
}
