import type { Command } from "#commander";
import { runs, withExamples, type CommandContext } from "../console/define-command.js";
import { wholeNumber } from "../console/parse-option.js";
import { untilStopped } from "../console/interruption.js";
import { addInboxOptions, noteIfEmpty, withInbox } from "./open-inbox.js";
import { pageOfInbox } from "./page-of-inbox.js";

/** Not reachable from another machine: the page has no login. */
const HOST = "127.0.0.1";

export function addServeCommand(parent: Command, context: CommandContext): void {
  const command = addInboxOptions(
    parent
      .command("serve")
      .description(
        "Serve a page that shows the inbox, and replays and discards its events, to browsers on this machine.",
      ),
  ).option(
    "--port <n>",
    "the port to listen on; 0 chooses a free port",
    wholeNumber(0, 65_535),
    4020,
  );
  withExamples(command, [
    ["signalbox inbox serve --db signals.db", "Serve the page at http://127.0.0.1:4020"],
    [
      "signalbox inbox serve --db signals.db --port 0 --json",
      "Serve it on a free port, and print its address as JSON",
    ],
  ]);
  runs(command, context, async (options, { cli, outcome }) => {
    const { terminal } = cli;
    const { port, json } = options;
    const { listen } = await import("../../service/emulator/http/listen.js");
    const closing = new AbortController();
    await withInbox(options, async (inbox) => {
      const { endpoints } = inbox;
      const handler = await pageOfInbox(inbox, { closing: closing.signal, note: terminal.note });
      const listening = await listen({ port, host: HOST }, handler);
      try {
        const url = `http://${HOST}:${listening.port}/`;
        if (json) terminal.printJson({ url, endpoints, pid: process.pid });
        else printStart(url, terminal);
        await noteIfEmpty(inbox, terminal);
        await untilStopped(cli, outcome);
      } finally {
        closing.abort();
        await listening.close();
      }
    });
  });
}

function printStart(url: string, { print, paint }: CommandContext["cli"]["terminal"]): void {
  print(`${paint.green("●")} ${paint.bold("The inbox is at")} ${url}`);
  print(paint.dim("  Only browsers on this machine can open it. Ctrl-C stops it."));
}
