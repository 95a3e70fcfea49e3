import { once } from "node:events";
import { EXIT } from "./exit.js";
import type { Cli, Outcome } from "./cli.js";

/** Resolves when a server has to end: after a signal, or when nothing reads its output any more. */
export async function untilStopped({ signal, terminal }: Cli, outcome: Outcome): Promise<void> {
  if (!signal.aborted) await Promise.race([once(signal, "abort"), terminal.closed]);
  const reason: unknown = signal.reason;
  // A supervisor stops a server with SIGTERM, so the exit code is 0. After Ctrl-C it is 130, as in
  // every command.
  if (reason instanceof DOMException && reason.message === "SIGTERM")
    outcome.whenInterrupted = EXIT.ok;
}
