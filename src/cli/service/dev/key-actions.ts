import { spawn } from "node:child_process";
import { SIGNAL_TYPES, type KnownSignalType } from "../../../kit/senders/signals/signal-types.js";
import type { Cli } from "../../console/cli.js";
import { formatTable } from "../../console/table.js";
import { EXIT, type ExitCode } from "../../console/exit.js";
import { advanceToNextSignals } from "../../../service/emulator/control/advance-to-next-signals.js";
import { dashboardUrl, inboxUrl } from "../emulator/report-start.js";
import { CTRL_C, readKeys, type Keys } from "./read-keys.js";
import type { Session } from "./session.js";

type ConsoleParts = Pick<Cli, "env" | "stdin" | "stderr" | "terminal">;

interface KeyAction {
  key: string;
  /** @default the key */
  name?: string;
  /** For the line of all keys. */
  word: string;
  about: string;
  act: (session: Session, keys: Keys, cli: ConsoleParts) => Promise<unknown>;
}

const ACTIONS: readonly KeyAction[] = [
  { key: "p", word: "publish", about: "publish a signal that you choose", act: publishChosen },
  {
    key: "d",
    word: "day",
    about: "advance the service's clock by a day",
    act: ({ emulator }) => emulator.control.advance({ days: 1 }),
  },
  {
    key: "m",
    word: "month",
    about: "advance it until the next month's signals are published",
    act: ({ emulator, screen, stop }) =>
      screen.asOneAdvance(() => advanceToNextSignals(emulator.control, stop.signal)),
  },
  { key: "r", word: "redeliver", about: "send the last signal again", act: redeliverLast },
  {
    key: "o",
    word: "open",
    about: "open the dashboard at the timeline of the last signal",
    act: openLast,
  },
  { key: "i", word: "inbox", about: "open the receiver's inbox", act: openInbox },
  {
    key: " ",
    name: "space",
    word: "pause",
    about: "pause the registrations, or resume them",
    act: pauseOrResume,
  },
  {
    key: "?",
    word: "help",
    about: "show the keys",
    async act(_session, _keys, { terminal }) {
      const rows = ALL_KEYS.map(({ key, name = key, about }) => [`  ${name}`, about]);
      for (const line of formatTable(rows)) terminal.print(line);
    },
  },
];

export const ALL_KEYS: readonly Omit<KeyAction, "act">[] = [
  ...ACTIONS,
  { key: "q", word: "quit", about: "stop the service" },
];

/**
 * All keys in one line. The spaces in it that do not end a pair are protected, so that no line ends
 * there.
 */
export const KEY_LINE = ALL_KEYS.map(({ key, name = key, word }) => `${name}\u00a0${word}`).join(
  ", ",
);

/** Runs the action of each key, one after the other: a key that is pressed meanwhile is ignored. */
export function listenToKeys(
  session: Session,
  cli: ConsoleParts,
  end: (exitCode: ExitCode) => void,
): Keys {
  const { screen, secrets, stop } = session;
  let isBusy = false;

  async function press(key: string): Promise<void> {
    if (key === "q") return end(EXIT.ok);
    // As the signal of a terminal does: the first Ctrl-C ends `dev`, and a second one does not wait
    // until the command has ended.
    if (key === CTRL_C) return void process.emit("SIGINT", "SIGINT");
    const action = ACTIONS.find((each) => each.key === key);
    if (action === undefined || isBusy) return;
    // The signals of the days that pass now would be lost.
    if (secrets.length === 0 && "dm".includes(key))
      return screen.say("the receiver is not registered yet");
    isBusy = true;
    try {
      await action.act(session, keys, cli);
    } catch (error) {
      if (!stop.signal.aborted) screen.say(error instanceof Error ? error.message : String(error));
    } finally {
      isBusy = false;
    }
  }
  const keys = readKeys(cli.stdin, (key) => void press(key));
  return keys;
}

async function publishChosen(session: Session, keys: Keys, cli: ConsoleParts): Promise<void> {
  const { emulator, screen, slugs, stop } = session;
  if (await saysPaused(session)) return;
  const chosen = await screen.during(() => keys.lend(() => pickSignal(slugs, cli, stop.signal)));
  if (chosen !== null) await emulator.control.publishSignal(chosen);
}

/**
 * Asks for a signal type and for one of the products.
 *
 * @returns null when the user presses Escape or Ctrl-C, or Enter where nothing matches
 */
async function pickSignal(
  slugs: readonly string[],
  { stdin, stderr }: ConsoleParts,
  signal: AbortSignal,
) {
  const { autocomplete } = await import("#clack-prompts");
  const common = { input: stdin, output: stderr, signal, maxItems: 8 };
  const type = await autocomplete<string>({
    ...common,
    message: "Which signal type? Type a part of its name; Escape leaves.",
    options: SIGNAL_TYPES.map((value) => ({ value, label: value })),
  });
  if (typeof type !== "string") return null;
  const slug = await autocomplete<string>({
    ...common,
    message: "About which product? Enter takes any.",
    options: [
      { value: "", label: "any of them" },
      ...slugs.map((value) => ({ value, label: value })),
    ],
  });
  if (typeof slug !== "string") return null;
  const any = slugs[Math.floor(Math.random() * slugs.length)] ?? "";
  return { signal_type: type as KnownSignalType, slug: slug === "" ? any : slug };
}

async function lastSignal({ emulator: { control } }: Session) {
  const { items } = await control.listDeliveries({ limit: 50 });
  return items.find(({ event_type }) => event_type === "signal.published");
}

async function openLast(session: Session, _keys: Keys, { env }: ConsoleParts): Promise<void> {
  const last = await lastSignal(session);
  const page = dashboardUrl(session.emulator.url);
  const url = last === undefined ? page : `${page}#/events/${encodeURIComponent(last.event_id)}`;
  session.screen.say(`dashboard: ${url}`);
  openBrowser(url, env);
}

async function openInbox(
  { emulator, screen }: Session,
  _keys: Keys,
  { env }: ConsoleParts,
): Promise<void> {
  const url = inboxUrl(emulator.url);
  screen.say(`inbox: ${url}`);
  openBrowser(url, env);
}

/**
 * Opens the address in the user's browser if there is one. Nothing tells whether it worked, so the
 * caller prints the address too.
 */
function openBrowser(
  url: string,
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform = process.platform,
): void {
  const command = commandOf(url, env, platform);
  if (command === null) return;
  const [file, ...args] = command;
  const child = spawn(file, args, { detached: true, stdio: "ignore", env, windowsHide: true });
  // There may be no such command.
  child.on("error", () => undefined);
  child.unref();
}

function commandOf(
  url: string,
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform,
): [string, ...string[]] | null {
  if (platform === "darwin") return ["open", url];
  // The first argument in quotes is the title of a window.
  if (platform === "win32") return ["cmd", "/c", "start", '""', url];
  const hasDisplay = ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"].some(
    (name) => (env[name] ?? "") !== "",
  );
  return hasDisplay ? ["xdg-open", url] : null;
}

async function redeliverLast(session: Session): Promise<void> {
  if (await saysPaused(session)) return;
  const { control } = session.emulator;
  const last = await lastSignal(session);
  if (last === undefined) session.screen.say("no signal was sent yet");
  else await control.redeliver({ delivery_id: last.delivery_id });
}

/** Says what to press while the registrations are paused. @returns whether they are */
async function saysPaused({ emulator: { control }, screen }: Session): Promise<boolean> {
  const { items } = await control.listRegistrations();
  const isPaused = items.some(({ status }) => status === "paused");
  if (isPaused) screen.say("paused: press space to resume first");
  return isPaused;
}

async function pauseOrResume({ emulator: { control }, screen }: Session): Promise<void> {
  const { items } = await control.listRegistrations();
  const active = items.filter(({ status }) => status === "active");
  const paused = items.filter(({ status }) => status === "paused");
  for (const { id } of active) await control.pauseRegistration({ registration_id: id });
  if (active.length > 0) return screen.say("paused: nothing is sent until you press space again");
  for (const { id } of paused) await control.resumeRegistration({ registration_id: id });
  screen.say(
    paused.length > 0 ? "resumed: signals are sent again" : "no registration is active yet",
  );
}
