import type { Emulator } from "../../../service/emulator/instance/create-emulator.js";
import type { Screen } from "./screen.js";

export const DEFAULT_PORT = 4010;

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
