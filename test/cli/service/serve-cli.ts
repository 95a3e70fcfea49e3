import { onTestFinished } from "vitest";
import { callCli } from "../call-cli.js";
import type { CliRun } from "../run-cli.js";
import { watchText } from "../watch-text.js";

export interface Serving {
  /** Resolves with all that was printed on stdout, once this is among it. */
  printed(words: string | RegExp): Promise<string>;
  /** Stops it as a supervisor does. */
  stop(): Promise<CliRun>;
}

/** Runs a command that serves, in this process, until it is stopped or the test ends. */
export function serveCli(args: readonly string[], env: Record<string, string> = {}): Serving {
  const controller = new AbortController();
  let end!: (run: CliRun) => void;
  const ended = new Promise<CliRun>((resolve) => (end = resolve));
  const { add, until } = watchText(ended);
  void callCli(args, { env, signal: controller.signal, onOutput: add }).then(end);
  const stop = (): Promise<CliRun> => {
    controller.abort(new DOMException("SIGTERM", "AbortError"));
    return ended;
  };
  onTestFinished(async () => void (await stop()));
  return {
    stop,
    printed: (words) =>
      until(
        (text) => (typeof words === "string" ? text.includes(words) : words.test(text)) && text,
        words,
      ),
  };
}
