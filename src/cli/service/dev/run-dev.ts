import { existsSync, rmSync, statSync } from "node:fs";
import { isLoopbackHost } from "../../../base/addresses/address-kind.js";
import { isSignalboxError } from "../../../base/errors.js";
import { systemClock } from "../../../base/time/clock.js";
import { createClient } from "../../../service/client/client.js";
import type { Emulator } from "../../../service/emulator/instance/create-emulator.js";
import type { EmulatorOptions } from "../../../service/emulator/instance/options.js";
import { refuseEndpoint } from "../../../service/emulator/webhooks/registrations/endpoint-rules.js";
import type { CommandContext } from "../../console/define-command.js";
import { environmentError, EXIT, usageError, type ExitCode } from "../../console/exit.js";
import { untilStopped } from "../../console/interruption.js";
import { printable } from "../../console/terminal.js";
import { assertPlace } from "../../inbox/open-inbox.js";
import { DEFAULT_EMULATOR_URL } from "../emulator/remote-control.js";
import { resumeCommand } from "../emulator/report-event.js";
import {
  dashboardUrl,
  demoAccounts,
  inboxUrl,
  printPlaces,
  startFacts,
} from "../emulator/report-start.js";
import { followMostVisited, startEmulator } from "../emulator/start-emulator.js";
import { openSecretWriter } from "../register/secret-writer.js";
import { KEY_LINE, listenToKeys } from "./key-actions.js";
import {
  createInboxOfReceiver,
  connectReceiver,
  isListening,
  shortLogLine,
  startCommand,
  STOP_MS,
  type RunningCommand,
} from "./receiver.js";
import { createScreen, type DevOptions, type Screen, type Session } from "./session.js";

const FOLLOWED = 25;

/** Sends again sooner than the service, because a receiver under development is often restarted. */
const RETRY_SECONDS = "2,5,10,30,60,300,1800,7200,21600,43200";

export async function runDev(
  options: DevOptions,
  { cli, outcome }: CommandContext,
): Promise<ExitCode> {
  const { terminal, env, stdin, stderr } = cli;
  assertAddress(options.url);
  // A file that is not there yet is not checked: the receiver makes it.
  assertPlace(options);
  await assertFree(options);
  const hadSecrets = existsSync(options.secretFile);
  // Checks that the secrets can be stored, before anything is started.
  openSecretWriter(options.secretFile).close();
  const isJson = options.json ?? false;
  const hasKeys = !isJson && stdin.isTTY && stderr.isTTY;
  const controlToken = env["SIGNALS_CONTROL_TOKEN"] || undefined;
  const screen = createScreen(terminal, {
    isJson,
    endOf: (eventId) => inbox.endOf(eventId),
    resumeHelp(id) {
      if (hasKeys) return ["Start the receiver, then press space"];
      return [
        "Start the receiver, then type:",
        resumeCommand(emulator.url, id, controlToken !== undefined),
      ];
    },
  });
  const accounts = demoAccounts();
  const inbox = createInboxOfReceiver(options, screen.say);
  const given = { accounts, controlToken, onEvent: screen.report, inboxPage: inbox.listener };
  const emulator = await startOnSomePort(options, given, screen);
  const secrets: string[] = [];
  try {
    const facts = await startFacts(emulator, accounts);
    const { account_id = 0, key: apiKey } = facts.accounts[0] ?? { key: "" };
    const client = createClient({ baseUrl: emulator.baseUrl, apiKey });
    const following = { account_id, limit: FOLLOWED };
    const { slugs } = await followMostVisited(emulator.control, client, following);
    let end!: (exitCode: ExitCode) => void;
    const ended = new Promise<ExitCode>((resolve) => (end = resolve));
    void untilStopped(cli, outcome).then(() => end(EXIT.ok));
    const stop = new AbortController();
    const session = { cli, options, emulator, client, apiKey, slugs, secrets, screen, end, stop };
    if (isJson) terminal.printJson(facts);
    else printStart(session, hasKeys);
    return await runSession(session, { ended, hasKeys });
  } finally {
    await emulator.close();
    await inbox.close();
    if (secrets.length > 0) removeSecrets(secrets, options.secretFile, hadSecrets);
  }
}

/** The service would refuse such an address only later, when the receiver is up. */
function assertAddress(url: URL): void {
  try {
    refuseEndpoint(url.href, { allowLoopbackHttp: true });
  } catch (error) {
    throw error instanceof Error ? usageError(`--${error.message}`) : error;
  }
}

/**
 * Another program at the receiver's address would get the deliveries, and the command could not
 * listen there.
 */
async function assertFree({ url, command }: DevOptions): Promise<void> {
  if (command.length === 0 || !isLoopbackHost(url.hostname) || !(await isListening(url))) return;
  throw environmentError(
    `a program that runs already listens on ${url.host}: end it, or let your receiver use another port and name that with PORT or --url`,
  );
}

async function startOnSomePort(
  { port, seed }: DevOptions,
  given: Pick<EmulatorOptions, "accounts" | "controlToken" | "onEvent" | "inboxPage">,
  { say }: Screen,
): Promise<Emulator> {
  const assumptions = {
    allowLoopbackHttp: true,
    signatureClock: "machine",
    retrySeconds: RETRY_SECONDS,
    // Other ids in each run: a receiver that keeps its inbox would take the same ids for
    // duplicates.
    firstSignalId: (systemClock.now() % 1_000_000_000) + 1,
  } as const;
  const startOn = (at: number) => startEmulator({ ...given, seed, assumptions, port: at });
  const usualPort = Number(new URL(DEFAULT_EMULATOR_URL).port);
  try {
    return await startOn(port ?? usualPort);
  } catch (error) {
    if (port !== undefined || !isSignalboxError(error) || error.code !== "port_in_use") throw error;
    say(`port ${usualPort} is in use, so the service listens on another one`);
    return startOn(0);
  }
}

function printStart({ cli, emulator, apiKey, options }: Session, hasKeys: boolean): void {
  const { print, paint } = cli.terminal;
  const { url, baseUrl, mcpUrl } = emulator;
  const rows = [
    ["Receiver", options.url.href],
    ["Secrets", printable(options.secretFile)],
    ["Dashboard", dashboardUrl(url)],
    ["Inbox", inboxUrl(url)],
    ["MCP", mcpUrl],
  ];
  printPlaces(rows, cli.terminal);
  print(`  $ export SIGNALS_BASE_URL=${baseUrl} SIGNALS_API_KEY=${apiKey}\n`);
  if (hasKeys) print(`${paint.bold("Keys")}  ${KEY_LINE}\n`);
}

/**
 * Connects the receiver and reads keys, until a key, a signal or the end of the user's command ends
 * it.
 */
async function runSession(
  session: Session,
  { ended, hasKeys }: { ended: Promise<ExitCode>; hasKeys: boolean },
): Promise<ExitCode> {
  const { cli, emulator, stop, end } = session;
  // The terminal was closed. The command has its own process group, so it would not end with this
  // process.
  const hangUp = (): void => end(EXIT.ok);
  process.once("SIGHUP", hangUp);
  const connecting = connectReceiver(session);
  const command = startReceiver(session);
  const restoreTerminal = hasKeys ? listenToKeys(session) : null;
  try {
    return await Promise.race([ended, connecting.then(() => ended)]);
  } finally {
    stop.abort();
    restoreTerminal?.();
    await connecting.catch(() => undefined);
    // The service stops first, so that it sends nothing to a receiver that is ending.
    await emulator.close();
    await command?.stop();
    cli.setUnfinished(null);
    process.off("SIGHUP", hangUp);
  }
}

/** Starts the user's command if there is one. Its end ends `dev`. */
function startReceiver(session: Session): RunningCommand | null {
  const { cli, emulator, apiKey, screen, options, stop, end } = session;
  if (options.command.length === 0) return null;
  const isTerminal = cli.terminal.columns !== Infinity;
  const command = startCommand(options.command, {
    env: {
      // Its output is a pipe, so it is told that colours are welcome.
      ...(isTerminal && { FORCE_COLOR: "1" }),
      ...cli.env,
      SIGNALS_BASE_URL: emulator.baseUrl,
      SIGNALS_API_KEY: apiKey,
    },
    pass: options.json
      ? undefined
      : (line, to) => screen.pass(isTerminal ? shortLogLine(line) : line, to),
  });
  cli.setUnfinished({
    atMostMs: STOP_MS,
    ifInterrupted: "the command that dev started may still run",
  });
  void command.ended.then((how) => {
    if (!stop.signal.aborted) screen.say(`${printable(options.command.join(" "))} ended: ${how}`);
    end(EXIT.failed);
  });
  return command;
}

/** Removes the secrets, so that the file does not grow with each run. */
function removeSecrets(secrets: readonly string[], file: string, hadFile: boolean): void {
  try {
    const writer = openSecretWriter(file);
    try {
      writer.remove(secrets);
      if (!hadFile && statSync(file).size === 0) rmSync(file);
    } finally {
      writer.close();
    }
  } catch {
    // An error has no effect: a receiver accepts the next secrets beside these.
  }
}
