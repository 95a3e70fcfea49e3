import type { KnownSignalType } from "../../../events/signal-types.js";
import { formatTable } from "../../console/table.js";
import { advanceToNextSignals } from "../emulator/advance-to-next-signals.js";
import type { Session } from "./session.js";

/** What the actions of the keys use. */
interface Parts extends Session {
  print: (line: string) => void;
  /** Asks for a signal; null when the user chose none. */
  pick: () => Promise<{ signal_type: KnownSignalType; slug: string } | null>;
}

interface KeyAction {
  key: string;
  /** @default the key */
  name?: string;
  /** For the line of all keys. */
  word: string;
  about: string;
  act: (parts: Parts) => Promise<unknown>;
}

const ACTIONS: readonly KeyAction[] = [
  {
    key: "p",
    word: "publish",
    about: "publish a signal that you choose",
    async act({ emulator, pick }) {
      const chosen = await pick();
      if (chosen !== null) await emulator.control.publishSignal(chosen);
    },
  },
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
    act: ({ emulator, screen, stop }) => screen.asOneAdvance(() => advanceToNextSignals(emulator.control, stop.signal)),
  },
  { key: "r", word: "redeliver", about: "send the last signal again", act: redeliverLast },
  { key: " ", name: "space", word: "pause", about: "pause the registrations, or resume them", act: pauseOrResume },
  {
    key: "?",
    word: "help",
    about: "show the keys",
    async act({ print }) {
      const rows = ALL_KEYS.map(({ key, name = key, about }) => [{ text: `  ${name}` }, { text: about }]);
      for (const line of formatTable(rows)) print(line);
    },
  },
];

export const ALL_KEYS: readonly Omit<KeyAction, "act">[] = [
  ...ACTIONS,
  { key: "q", word: "quit", about: "stop the service" },
];

/** All keys in one line. The spaces in it that do not end a pair are protected, so that no line ends there. */
export const KEY_LINE = ALL_KEYS.map(({ key, name = key, word }) => `${name}\u00a0${word}`).join(", ");

export const actionOf = (key: string): KeyAction["act"] | undefined => ACTIONS.find((each) => each.key === key)?.act;

async function redeliverLast({ emulator: { control }, screen }: Parts): Promise<void> {
  const { items } = await control.listDeliveries({ limit: 50 });
  const last = items.find(({ event_type }) => event_type === "signal.published");
  if (last === undefined) screen.say("no signal was sent yet");
  else await control.redeliver({ delivery_id: last.delivery_id });
}

async function pauseOrResume({ emulator: { control }, screen }: Parts): Promise<void> {
  const { items } = await control.listRegistrations();
  const active = items.filter(({ status }) => status === "active");
  const paused = items.filter(({ status }) => status === "paused");
  for (const { id } of active) await control.pauseRegistration({ registration_id: id });
  if (active.length > 0) return screen.say("paused: nothing is sent until you press space again");
  for (const { id } of paused) await control.resumeRegistration({ registration_id: id });
  screen.say(paused.length > 0 ? "resumed: signals are sent again" : "no registration is active yet");
}
