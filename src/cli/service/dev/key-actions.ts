import { spawn } from "node:child_process";
import { SIGNAL_TYPES, type KnownSignalType } from "../../../kit/senders/signals/signal-types.js";
import { advanceToNextSignals } from "../../../service/emulator/control/advance-to-next-signals.js";
import { EXIT } from "../../console/exit.js";
import { formatTable } from "../../console/terminal.js";
import { dashboardUrl, inboxUrl } from "../emulator/report-start.js";
import type { Session } from "./session.js";

const CTRL_C = "\u0003";

/** Gives the terminal to `ask`, which asks questions, and reads keys again afterwards. */
type Lend = <Result>(ask: () => Promise<Result>) => Promise<Result>;

interface Key {
  key: string;
  /** @default the key */
  name?: string;
  /** For the line of all keys. */
  word: string;
  about: string;
  act?: (session: Session, lend: Lend) => unknown;
}

export const ALL_KEYS: readonly Key[] = [
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
    async act(session) {
      const last = await lastSignal(session);
      const timeline = last === undefined ? "" : `#/events/${encodeURIComponent(last.event_id)}`;
      openPage("dashboard", `${dashboardUrl(session.emulator.url)}${timeline}`, session);
    },
  },
  {
    key: "i",
    word: "inbox",
    about: "open the receiver's inbox",
    act: (session) => openPage("inbox", inboxUrl(session.emulator.url), session),
  },
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
    act({ cli }) {
      const rows = ALL_KEYS.map(({ key, name = key, about }) => [`  ${name}`, about]);
      for (const line of formatTable(rows)) cli.terminal.print(line);
    },
  },
  // It does not wait for the action of another key.
  { key: "q", word: "quit", about: "stop the service" },
];

/**
 * All keys in one line. The spaces in it that do not end a pair are protected, so that no line ends
 * there.
 */
export const KEY_LINE = ALL_KEYS.map(({ key, name = key, word }) => `${name}\u00a0${word}`).join(
  ", ",
);

/**
 * Runs the action of each key, one after the other: a key that is pressed meanwhile is ignored.
 *
 * @returns a function that restores the terminal
 */
export function listenToKeys(session: Session): () => void {
  const { screen, secrets, stop, end, cli } = session;
  const { stdin } = cli;
  let isBusy = false;
  let isClosed = false;

  async function press(pressed: string): Promise<void> {
    if (pressed === "q") return end(EXIT.ok);
    // As the signal of a terminal does: the first Ctrl-C ends `dev`, and a second one does not wait
    // until the command has ended.
    if (pressed === CTRL_C) return void process.emit("SIGINT", "SIGINT");
    const action = ALL_KEYS.find(({ key }) => key === pressed);
    if (action === undefined || isBusy) return;
    // The signals of the days that pass now would be lost.
    if (secrets.length === 0 && "dm".includes(pressed))
      return screen.say("the receiver is not registered yet");
    isBusy = true;
    try {
      await action.act?.(session, lend);
    } catch (error) {
      if (!stop.signal.aborted) screen.say(error instanceof Error ? error.message : String(error));
    } finally {
      isBusy = false;
    }
  }

  function onData(data: Buffer): void {
    const text = data.toString();
    // Keys such as the arrows send several characters, which begin with an escape.
    if (!text.startsWith("\u001b")) for (const key of text) void press(key);
  }
  function read(): void {
    if (isClosed) return;
    // In this mode Ctrl-C is a key too, and sends no signal.
    stdin.setRawMode(true);
    stdin.on("data", onData);
    stdin.resume();
  }
  function release(): void {
    stdin.off("data", onData);
    stdin.setRawMode(false);
    stdin.pause();
  }
  const lend: Lend = async (ask) => {
    release();
    try {
      return await ask();
    } finally {
      read();
    }
  };

  read();
  return () => {
    isClosed = true;
    release();
  };
}

async function publishChosen(session: Session, lend: Lend): Promise<void> {
  if (await saysPaused(session)) return;
  const chosen = await session.screen.during(() => lend(() => pickSignal(session)));
  if (chosen !== null) await session.emulator.control.publishSignal(chosen);
}

/**
 * Asks for a signal type and for one of the products.
 *
 * @returns null when the user presses Escape or Ctrl-C, or Enter where nothing matches
 */
async function pickSignal({ slugs, cli: { stdin, stderr }, stop: { signal } }: Session) {
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

/**
 * Opens the address in the user's browser if there is one. Nothing tells whether it worked, so the
 * address is printed too.
 */
function openPage(what: string, url: string, { screen, cli: { env } }: Session): void {
  screen.say(`${what}: ${url}`);
  const hasDisplay = ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"].some(
    (name) => (env[name] ?? "") !== "",
  );
  const openers: Partial<Record<NodeJS.Platform, string[]>> = {
    darwin: ["open"],
    // The first argument in quotes is the title of a window.
    win32: ["cmd", "/c", "start", '""'],
  };
  const [file, ...args] = openers[process.platform] ?? (hasDisplay ? ["xdg-open"] : []);
  if (file === undefined) return;
  const options = { detached: true, stdio: "ignore", env, windowsHide: true } as const;
  const child = spawn(file, [...args, url], options);
  // There may be no such command.
  child.on("error", () => undefined);
  child.unref();
}

async function redeliverLast(session: Session): Promise<void> {
  if (await saysPaused(session)) return;
  const last = await lastSignal(session);
  if (last === undefined) session.screen.say("no signal was sent yet");
  else await session.emulator.control.redeliver({ delivery_id: last.delivery_id });
}

/** The ids of the registrations with this status. */
async function registrationsThatAre(status: string, { emulator }: Session): Promise<string[]> {
  const { items } = await emulator.control.listRegistrations();
  return items.filter((each) => each.status === status).map(({ id }) => id);
}

/** Says what to press while the registrations are paused. @returns whether they are */
async function saysPaused(session: Session): Promise<boolean> {
  const isPaused = (await registrationsThatAre("paused", session)).length > 0;
  if (isPaused) session.screen.say("paused: press space to resume first");
  return isPaused;
}

async function pauseOrResume(session: Session): Promise<void> {
  const { control } = session.emulator;
  const { say } = session.screen;
  const active = await registrationsThatAre("active", session);
  for (const id of active) await control.pauseRegistration({ registration_id: id });
  if (active.length > 0) return say("paused: nothing is sent until you press space again");
  const paused = await registrationsThatAre("paused", session);
  for (const id of paused) await control.resumeRegistration({ registration_id: id });
  say(paused.length > 0 ? "resumed: signals are sent again" : "no registration is active yet");
}
