import { printable } from "../../console/printable.js";
import type { CommandContext } from "../../options/define-command.js";
import { EXIT, type ExitCode } from "../../options/exit.js";
import { untilStopped } from "../emulator/emulator-command.js";
import { connectReceiver, type Session } from "./connect-receiver.js";
import { listenToKeys } from "./key-actions.js";
import { startCommand, STOP_MS } from "./start-command.js";

/** Connects the receiver and reads keys, until a key, a signal or the end of the user's command ends it. */
export async function runSession(session: Session, { cli, outcome }: CommandContext): Promise<ExitCode> {
  const { emulator, apiKey, screen, options, hasKeys, stop } = session;
  let end!: (exitCode: ExitCode) => void;
  const ended = new Promise<ExitCode>((resolve) => {
    end = resolve;
  });
  void untilStopped(cli, outcome).then(() => end(EXIT.ok));
  // The terminal was closed. The command has its own process group, so it would not end with this process.
  const hangUp = (): void => end(EXIT.ok);
  process.once("SIGHUP", hangUp);

  const connecting = connectReceiver(session, cli.env);
  const command =
    options.command.length === 0
      ? null
      : startCommand(options.command, {
          env: { ...cli.env, SIGNALS_BASE_URL: emulator.baseUrl, SIGNALS_API_KEY: apiKey },
          stdout: options.json ? "stderr" : "stdout",
        });
  if (command !== null) {
    cli.setUnfinished({ atMostMs: STOP_MS, ifInterrupted: "the command that dev started may still run" });
    void command.ended.then((how) => {
      if (!stop.signal.aborted) screen.say(`${printable(options.command.join(" "))} ended: ${how}`);
      end(EXIT.failed);
    });
  }
  const keys = hasKeys ? listenToKeys(session, cli, end) : null;
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
