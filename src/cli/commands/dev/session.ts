import type { Emulator } from "../../../emulator/instance/create-emulator.js";
import type { DevOptions } from "./dev-command.js";
import type { Screen } from "./screen.js";

/** What the parts of `signalbox dev` share while it runs. */
export interface Session {
  options: DevOptions;
  emulator: Emulator;
  apiKey: string;
  /** The products that the account follows, the one with the most traffic first. */
  slugs: readonly string[];
  /** The secrets that were added to the secret file. Empty until the receiver is registered. */
  secrets: string[];
  screen: Screen;
  /** Whether keys are read from a terminal. */
  hasKeys: boolean;
  /** Aborts when the command ends. */
  stop: AbortController;
}
