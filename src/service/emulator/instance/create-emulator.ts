import { pino } from "pino";
import { API_PREFIX } from "../../contract/operations.js";
import {
  runControl,
  type ControlMethods,
  type ControlTable,
} from "../control/control-operation.js";
import { listen, type Listening } from "../http/listen.js";
import { MCP_PATH } from "../mcp/call-mcp.js";
import { createReport } from "./events.js";
import { createInstanceHolder, notRunning } from "./instance-holder.js";
import type { Instance } from "./open-instance.js";
import { resolveEmulatorOptions, type EmulatorOptions } from "./options.js";

/** The operations of the control API, by the names of their methods. */
export type EmulatorControlTable = Instance["control"];

/**
 * The operations of the control API as methods. `GET /_emulator` lists the same names and inputs.
 */
export type EmulatorControl = ControlMethods<EmulatorControlTable>;

/** The service of the document on this machine. */
export interface Emulator {
  /** Resolves when the emulator listens. Idempotent. @throws SignalboxError */
  start(): Promise<void>;
  /**
   * Waits for running calls and frees the port and the file. Idempotent. The emulator cannot be
   * started again.
   */
  close(): Promise<void>;
  /**
   * The address for callers on this machine, such as `http://127.0.0.1:4010`. @throws
   * SignalboxError `emulator_not_running`
   */
  readonly url: string;
  /**
   * The base address of the REST API, such as `http://127.0.0.1:4010/v1`. @throws SignalboxError
   */
  readonly baseUrl: string;
  /** The address of the remote MCP, such as `http://127.0.0.1:4010/mcp`. @throws SignalboxError */
  readonly mcpUrl: string;
  /** @throws SignalboxError `emulator_not_running` */
  readonly control: EmulatorControl;
  /** The same as `close`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Creates the service of the document on this machine: its REST API, its remote MCP, the sender of
 * its signals, and a control API.
 *
 * @throws SignalboxError `option_unknown`, `option_invalid`
 * @example
 * const emulator = createEmulator({ port: 0 });
 * await emulator.start();
 * const { account_id } = await emulator.control.createAccount({ tier: "pro" });
 * const { key } = await emulator.control.createKey({ account_id });
 * await emulator.close();
 */
export function createEmulator(options: EmulatorOptions = {}): Emulator {
  const config = resolveEmulatorOptions(options);
  const logger = config.logger === false ? pino({ enabled: false }) : config.logger;
  const holder = createInstanceHolder(config, createReport(config.onEvent, logger));
  let listening: Listening | null = null;
  let starting: Promise<void> | null = null;
  let closing: Promise<void> | null = null;

  async function open(): Promise<void> {
    holder.open();
    try {
      listening = await listen(config, holder.listener);
    } catch (error) {
      await holder.close();
      throw error;
    }
  }

  async function end(): Promise<void> {
    await starting?.catch(() => undefined);
    holder.endStreams();
    await listening?.close();
    listening = null;
    await holder.close();
  }

  const url = (): string => {
    if (listening === null) throw notRunning();
    const name = WILDCARDS.get(config.host) ?? config.host;
    const host = name.includes(":") ? `[${name}]` : name;
    return `http://${host}:${listening.port}`;
  };
  const close = (): Promise<void> => (closing ??= end());
  return {
    start() {
      if (closing !== null) return Promise.reject(notRunning());
      return (starting ??= open());
    },
    close,
    get url() {
      return url();
    },
    get baseUrl() {
      return `${url()}${API_PREFIX}`;
    },
    get mcpUrl() {
      return `${url()}${MCP_PATH}`;
    },
    get control() {
      return methodsOf(() => holder.current().control);
    },
    [Symbol.asyncDispose]: close,
  };
}

/**
 * For each wildcard address the address that local clients use, because not every system can
 * connect to a wildcard.
 */
const WILDCARDS: ReadonlyMap<string, string> = new Map([
  ["0.0.0.0", "127.0.0.1"],
  ["::", "::1"],
]);

/**
 * Makes a method for each operation. After a reset or a loaded snapshot, the methods call the new
 * instance.
 */
function methodsOf(table: () => ControlTable): EmulatorControl {
  const methods = Object.keys(table()).map((name) => [
    name,
    async (input: unknown = {}) => {
      const operation = table()[name];
      if (operation === undefined) throw notRunning();
      return runControl(operation, input);
    },
  ]);
  return Object.fromEntries(methods) as EmulatorControl;
}
