import type { Client } from "../../../service/client/client.js";
import type { Emulator } from "../../../service/emulator/instance/create-emulator.js";
import type { ClockMove, EmulatorEvent } from "../../../service/emulator/instance/events.js";
import type { Cli } from "../../console/cli.js";
import type { ExitCode } from "../../console/exit.js";
import { wrap, type Terminal } from "../../console/terminal.js";
import {
  createEventReporter,
  timed,
  type HandoffEnd,
  type ReporterOptions,
} from "../emulator/report-event.js";

export interface DevOptions {
  /** The words of a command that starts the receiver; empty if there is none. */
  command: readonly string[];
  url: URL;
  secretFile: string;
  /** The inbox of the receiver. */
  db: string;
  schema?: string;
  /** If it is not given, another port is taken when the default is in use. */
  port?: number;
  seed?: number;
  json?: true;
}

/** What the parts of `signalbox dev` share while it runs. */
export interface Session {
  cli: Cli;
  options: DevOptions;
  emulator: Emulator;
  client: Client;
  apiKey: string;
  /** The products that the account follows, the one with the most traffic first. */
  slugs: readonly string[];
  /** The secrets that were added to the secret file. Empty until the receiver is registered. */
  secrets: string[];
  screen: Screen;
  end: (exitCode: ExitCode) => void;
  /** Aborts when the command ends. */
  stop: AbortController;
}

export type Screen = ReturnType<typeof createScreen>;

const GUTTER = "app │ ";

/** Where all lines of `signalbox dev` go. */
export function createScreen(
  terminal: Terminal,
  options: ReporterOptions & { endOf: (eventId: string) => Promise<HandoffEnd | undefined> },
) {
  const held: (() => void)[] = [];
  let isAsking = false;
  let isMuted = false;
  let shown: Promise<void> = Promise.resolve();
  const print = createEventReporter(terminal, options);

  function whenFree(write: () => void): void {
    if (isAsking) held.push(write);
    else write();
  }

  /** A signal that was taken has one line, when its hand-off has ended. The order stays. */
  function report(event: EmulatorEvent): void {
    if (event.event === "clock_moved" && isMuted) return;
    if (options.isJson) return print(event);
    const isTaken = (event.event === "sent" || event.event === "retried") && !event.duplicate;
    const ending = isTaken ? options.endOf(event.event_id) : Promise.resolve(undefined);
    shown = shown.then(async () => {
      const end = await ending;
      whenFree(() => print(event, end));
    });
  }

  return {
    report,
    /** Prints a line with the time of day. With `--json` it is a note on stderr. */
    say(line: string): void {
      whenFree(() =>
        options.isJson ? terminal.note(line) : terminal.print(timed(line, terminal)),
      );
    },
    /** Prints a line of the user's command behind a gutter. */
    pass: (line: string, to: "print" | "note"): void =>
      whenFree(() => {
        for (const part of wrap(line, terminal.columns - GUTTER.length).split("\n"))
          terminal[to](terminal.paint.dim(GUTTER) + part);
      }),
    /** Keeps lines back while a question is on the screen. */
    async during<Result>(ask: () => Promise<Result>): Promise<Result> {
      isAsking = true;
      try {
        return await ask();
      } finally {
        isAsking = false;
        for (const write of held.splice(0)) write();
      }
    },
    /** Prints one line with the sums of several advances of the clock, not a line for each. */
    async asOneAdvance(advance: () => Promise<ClockMove>): Promise<void> {
      isMuted = true;
      const move = await advance().finally(() => (isMuted = false));
      report({ event: "clock_moved", ...move });
    },
  };
}
