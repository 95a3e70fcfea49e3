import { onTestFinished } from "vitest";
import { callCli } from "../call-cli.js";
import type { CliRun } from "../run-cli.js";

export interface Serving {
  /** Resolves with all that was printed on stdout, once this is among it. */
  printed(words: string | RegExp): Promise<string>;
  /** Stops it as a supervisor does. */
  stop(): Promise<CliRun>;
}

/** Runs a command that serves, in this process, until it is stopped or the test ends. */
export function serveCli(args: readonly string[], env: Record<string, string> = {}): Serving {
  const controller = new AbortController();
  const waiting = new Set<() => void>();
  let text = "";
  const onOutput = (piece: string): void => {
    text += piece;
    for (const look of waiting) look();
  };
  const outcome = callCli(args, { env, signal: controller.signal, onOutput });
  const stop = (): Promise<CliRun> => {
    controller.abort(new DOMException("SIGTERM", "AbortError"));
    return outcome;
  };
  onTestFinished(async () => void (await stop()));
  return {
    stop,
    printed: (words) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const isThere = typeof words === "string" ? text.includes(words) : words.test(text);
          if (isThere) resolve(text);
        };
        waiting.add(look);
        look();
        void outcome.then(({ stderr }) =>
          reject(new Error(`it ended without "${words}":\n${text}\n${stderr}`)),
        );
      }),
  };
}
