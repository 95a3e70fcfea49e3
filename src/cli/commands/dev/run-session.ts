import { isTermination } from "../../console/interruption.js";
import { printable } from "../../console/printable.js";
import type { CommandContext } from "../../options/define-command.js";
import { EXIT, type ExitCode } from "../../options/exit.js";
import { connectReceiver } from "./connect-receiver.js";
import { actionOf } from "./key-actions.js";
import { pickSignal } from "./pick-signal.js";
import { CTRL_C, readKeys, type Keys } from "./read-keys.js";
import type { Session } from "./session.js";
import { startCommand, STOP_MS } from "./start-command.js";

/** Connects the receiver and reads keys, until a key, a signal or the end of the user's command ends it. */
export async function runSession(session: Session, { cli, outcome }: CommandContext): Promise<ExitCode> {
  const { terminal, env, signal } = cli;
  const { emulator, apiKey, screen, options, hasKeys, stop } = session;
  let end!: (exitCode: ExitCode) => void;
  const ended = new Promise<ExitCode>((resolve) => {
    end = resolve;
  });
  const interrupt = (): void => {
    // As for the emulator: SIGTERM is the normal end of a server.
    if (isTermination(signal)) outcome.whenInterrupted = EXIT.ok;
    end(EXIT.interrupted);
  };
  if (signal.aborted) interrupt();
  signal.addEventListener("abort", interrupt, { once: true });
  void terminal.closed.then(() => end(EXIT.ok));
  // The terminal was closed. The command has its own process group, so it would not end with this process.
  const hangUp = (): void => end(EXIT.ok);
  process.once("SIGHUP", hangUp);

  const connecting = connectReceiver(session, cli);
  const command =
    options.command.length === 0
      ? null
      : startCommand(options.command, {
          env: { ...env, SIGNALS_BASE_URL: emulator.baseUrl, SIGNALS_API_KEY: apiKey },
          stdout: options.json ? "stderr" : "stdout",
        });
  if (command !== null) {
    cli.setUnfinished({ atMostMs: STOP_MS, ifInterrupted: "the command that dev started may still run" });
    void command.ended.then((how) => {
      if (!stop.signal.aborted) screen.say(`${printable(options.command.join(" "))} ended: ${how}`);
      end(EXIT.failed);
    });
  }
  const keys = hasKeys ? listen(session, cli, end) : null;
  try {
    return await Promise.race([ended, connecting.then(() => ended)]);
  } finally {
    stop.abort();
    keys?.close();
    await connecting.catch(() => undefined);
    // The service stops first, so that it sends nothing to a receiver that is ending.
    await emulator.close();
    await command?.stop();
    cli.setUnfinished(null);
    process.off("SIGHUP", hangUp);
  }
}

/** Runs the action of each key, one after the other: a key that is pressed meanwhile is ignored. */
function listen(session: Session, cli: CommandContext["cli"], end: (exitCode: ExitCode) => void): Keys {
  const { screen, slugs, stop } = session;
  const pick = () => screen.during(() => keys.lend(() => pickSignal(slugs, cli, stop.signal)));
  let isBusy = false;

  async function press(key: string): Promise<void> {
    const act = actionOf(key);
    if (key === "q") return end(EXIT.ok);
    // As from the terminal: the first one ends dev, a second one does not wait for the command.
    if (key === CTRL_C) return void process.emit("SIGINT", "SIGINT");
    if (act === undefined || isBusy) return;
    // The signals of the days that pass now would be lost.
    if (session.secrets.length === 0 && "dm".includes(key)) return screen.say("the receiver is not registered yet");
    isBusy = true;
    try {
      await act({ ...session, pick, print: cli.terminal.print });
    } catch (error) {
      if (!stop.signal.aborted) screen.say(error instanceof Error ? error.message : String(error));
    } finally {
      isBusy = false;
    }
  }
  const keys = readKeys(cli.stdin, (key) => void press(key));
  return keys;
}
