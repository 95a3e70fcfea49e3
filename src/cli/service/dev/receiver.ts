import { spawn } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import type { RequestListener } from "node:http";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { isSignalboxError, safely } from "../../../base/errors.js";
import { formatMoment } from "../../../base/text/format.js";
import { systemClock } from "../../../base/time/clock.js";
import { whyNotHandedOff } from "../../../kit/inbox/done-reasons.js";
import type { InboxEntry } from "../../../kit/inbox/stored-events.js";
import type { PageInbox } from "../../../page/inbox/page-inbox.js";
import type { NewRegistration } from "../../../service/contract/webhook-registration.js";
import { CliError } from "../../console/exit.js";
import { printable, shortened } from "../../console/terminal.js";
import {
  isDatabase,
  type InboxPlace,
  inboxOf,
  storeOf,
  pageOfInbox,
} from "../../inbox/open-inbox.js";
import { registerAllTypes } from "../register/register-webhooks.js";
import { waitUntilActive } from "../register/wait-until-active.js";
import type { HandoffEnd } from "../emulator/report-event.js";
import type { Session } from "./session.js";

const PAUSE_MS = 300;
/** After so many pauses, most commands have started their receiver. */
const TRIES_OF_A_START = 20;
const TIMEOUT_MS = 3000;
/** The pause after a verification that failed: the user has to change the receiver first. */
const FIX_PAUSE_MS = 3000;

/**
 * Waits for the receiver, registers it for all signal types, waits until it is verified, and
 * publishes a first signal.
 *
 * @throws CliError when the secret file cannot be written
 */
export async function connectReceiver(session: Session): Promise<void> {
  await waitForReceiver(session);
  const { options, emulator, client, secrets } = session;
  const { url, secretFile } = options;
  const registrations = await registerAllTypes(client, { url: url.href, secretFile });
  secrets.push(...registrations.map(({ signing_secret }) => signing_secret));
  // The verifications of the service come first, so that the receiver need not answer further ones.
  await emulator.control.settle();
  await waitUntilVerified(registrations, session);
  const [slug = ""] = session.slugs;
  await emulator.control.publishSignal({ signal_type: "price_increased", slug });
}

async function waitForReceiver({
  options: { url, command },
  screen,
  stop,
}: Session): Promise<void> {
  for (let tries = 0; !(await isListening(url)); tries++) {
    const advice = command.length === 0 ? ": start your receiver, for example npm start" : "";
    if (tries === 0) screen.say(`waiting for ${url.href}${advice}`);
    if (tries === TRIES_OF_A_START && command.length > 0) {
      screen.say(
        `nothing listens on ${url.host} yet: if your receiver uses another port, name that with PORT or --url`,
      );
    }
    await sleep(PAUSE_MS, undefined, { signal: stop.signal });
  }
}

/** Whether something accepts connections at the address. */
export async function isListening({ hostname, port, protocol }: URL): Promise<boolean> {
  const usualPort = protocol === "https:" ? 443 : 80;
  const host = hostname.replaceAll(/[[\]]/g, "");
  const socket = connect({ host, port: Number(port) || usualPort, timeout: TIMEOUT_MS });
  socket.once("timeout", () => socket.destroy(new Error("timeout")));
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/**
 * Repeats the verification until it succeeds. Prints the obstacle, but only when it is another one
 * than before.
 */
async function waitUntilVerified(
  registrations: readonly NewRegistration[],
  { cli: { env }, emulator: { baseUrl }, options: { url, secretFile }, screen, stop }: Session,
): Promise<void> {
  const where = { url: url.href, baseUrl, secretFile, timeout: 5 };
  // Its own notes would repeat what is said here.
  const quiet = { env, signal: stop.signal, note: () => undefined };
  let told: string | null = null;
  for (;;) {
    const outcome = await waitUntilActive(registrations, where, quiet);
    if (typeof outcome === "string") return;
    if (outcome.found !== told) screen.say(`not verified: ${outcome.found}. ${outcome.fix}`);
    told = outcome.found;
    await sleep(FIX_PAUSE_MS, undefined, { signal: stop.signal });
  }
}

export type RunningCommand = ReturnType<typeof startCommand>;

/**
 * How long the command has to end: longer than a receiver waits for its callbacks
 * (`DEFAULT_GRACE_MS`), or they would be killed.
 */
export const STOP_MS = 15_000;
const LOOK_MS = 20;

/** Starts the command of the user. It gets no stdin, because the keys are for this process. */
export function startCommand(
  [file = "", ...args]: readonly string[],
  {
    env,
    pass,
  }: { env: NodeJS.ProcessEnv; pass?: ((line: string, to: "print" | "note") => void) | undefined },
) {
  const target = pass === undefined ? 2 : "pipe";
  // Its own process group, because a command such as `npm start` ends before the process that it
  // has started.
  const child = spawn(file, args, { env, stdio: ["ignore", target, target], detached: true });
  for (const [input, to] of [
    [child.stdout, "print"],
    [child.stderr, "note"],
  ] as const)
    if (input !== null) createInterface({ input }).on("line", (line) => pass?.(line, to));
  const ended = new Promise<string>((resolve) => {
    child.once("error", ({ code, message }: NodeJS.ErrnoException) =>
      resolve(code === "ENOENT" ? "there is no such command" : (code ?? message)),
    );
    child.once("exit", (code, signal) => resolve(signal ?? `exit code ${code}`));
  });

  /** @returns whether a process of the group runs. The signal 0 only asks. */
  function signalGroup(signal: NodeJS.Signals | 0): boolean {
    try {
      return child.pid !== undefined && process.kill(-child.pid, signal);
    } catch {
      return false;
    }
  }

  return {
    /** Resolves when the command has ended by itself or was stopped, to how: `exit code 1`. */
    ended,
    /**
     * Sends SIGTERM, and SIGKILL to what does not end. Resolves when all processes of the command
     * have ended.
     */
    async stop(): Promise<void> {
      signalGroup("SIGTERM");
      const killsAt = performance.now() + STOP_MS;
      while (signalGroup(performance.now() < killsAt ? 0 : "SIGKILL")) await sleep(LOOK_MS);
    },
  };
}

/** The levels of pino: 10, 20 and so on. */
const LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"];

/** Of little use beside the other lines of `dev`, or said before. */
const LEFT_OUT = new Set(
  "level time msg pid hostname name err endpoint errorName eventId kind".split(" "),
);
/** Nearly every event has it. */
const USUAL_TYPE = "signal.published";
const LONGEST_VALUE = 80;

/**
 * A line of pino as one short line: level, message, fields, and the first line of an error. Another
 * line stays as it is.
 */
export function shortLogLine(line: string): string {
  const read = (): unknown => (line.startsWith("{") ? JSON.parse(line) : null);
  const entry = safely(read, null) as Record<string, unknown> | null;
  const level = LEVELS[(entry?.["level"] as number) / 10 - 1];
  if (entry === null || level === undefined) return line;
  const { msg = "", err } = entry;
  const fields = Object.entries(entry)
    .filter(([name, value]) => !LEFT_OUT.has(name) && value !== null && value !== USUAL_TYPE)
    .map(
      ([name, value]) =>
        `${name}=${typeof value === "string" ? shortTime(value) : JSON.stringify(value)}`,
    );
  const { type = "", message = "" } = (err ?? {}) as { type?: string; message?: string };
  const error = err === undefined ? [] : [`${type}: ${message.split("\n", 1)[0] ?? ""}`];
  const words = [...error, ...fields].map((word) => shortened(word, LONGEST_VALUE));
  return [`${level}: ${printable(String(msg))}`, ...words].join("  ");
}

/** A date-time as the time of day, as the other lines of `dev` have it. */
function shortTime(text: string): string {
  return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text) ? new Date(text).toTimeString().slice(0, 8) : text;
}

const ENDPOINT = "default";
/** A hand-off that takes longer has its line before its end. */
const MOST_LOOKS = 100;

interface Opened {
  file: string;
  handler: RequestListener;
  inbox: PageInbox;
  close: () => Promise<void>;
}

/**
 * A page of the receiver's inbox. It is opened at the first request, because the receiver may make
 * it later.
 */
export function createInboxOfReceiver(place: InboxPlace, note: (line: string) => void) {
  let opened: Opened | null = null;
  const closing = new AbortController();
  /** One after the other, so that the inbox is opened once. */
  let changing: Promise<unknown> = Promise.resolve();

  /** @throws CliError, SignalboxError when there is no inbox that can be used */
  async function current(): Promise<Opened> {
    const file = fileAt(place);
    if (opened?.file === file) return opened;
    await opened?.close();
    opened = null;
    const store = await storeOf(place);
    await store.open({ endpoint: ENDPOINT, clock: systemClock });
    const closingPage = new AbortController();
    const [, inbox] = await inboxOf(store, [ENDPOINT], place.db);
    const handler = await pageOfInbox(inbox, { closing: closingPage.signal, note });
    async function close(): Promise<void> {
      closingPage.abort();
      await store.close(ENDPOINT);
    }
    opened = { file, handler, inbox, close };
    return opened;
  }

  return {
    listener: ((request, response) => {
      const handled = changing.then(async () => (await current()).handler(request, response));
      changing = handled.catch((error: unknown) => {
        const isExpected = error instanceof CliError || isSignalboxError(error);
        if (!isExpected) note(`the inbox could not be opened: ${String(error)}`);
        const message = isExpected ? error.message : "It could not be opened.";
        response.writeHead(503, {
          "Content-Type": "application/json",
          "Cache-Control": "no-store",
        });
        response.end(JSON.stringify({ error: { code: "inbox_unavailable", message } }));
      });
    }) satisfies RequestListener,
    /** Undefined for an event that the inbox does not have. */
    async endOf(eventId: string): Promise<HandoffEnd | undefined> {
      for (let looks = 0; !closing.signal.aborted; looks++) {
        const found = changing.then(async () => (await current()).inbox.get(eventId));
        const event = await (changing = found.catch(() => undefined));
        const end = event && endText(event);
        if (event?.state !== "leased" || looks === MOST_LOOKS) return end;
        await sleep(LOOK_MS);
      }
      return undefined;
    },
    async close(): Promise<void> {
      closing.abort();
      await changing;
      await opened?.close();
    },
  };
}

function endText(event: InboxEntry): HandoffEnd {
  const { state, dueAt, receivedAt, lastError } = event;
  if (state === "done")
    return { text: whyNotHandedOff(event) ?? `handed off ${dueAt - receivedAt} ms` };
  if (lastError === null) return { text: "not handed off yet" };
  const [line = ""] = lastError.split("\n", 1);
  const [error] = /\bE[A-Z]{4,}\b/.exec(line) ?? [line];
  const then = state === "ready" ? `again ${formatMoment(dueAt, systemClock.now())}` : state;
  return { text: `failed: ${shortened(error, LONGEST_VALUE)}, ${then}`, isBad: true };
}

/** Which file it is: the user may delete the inbox, and the receiver then makes another one. */
function fileAt({ db }: InboxPlace): string {
  if (isDatabase(db)) return db;
  const { dev, ino } = statSync(db, { throwIfNoEntry: false }) ?? { dev: 0, ino: 0 };
  return `${dev}:${ino}`;
}
