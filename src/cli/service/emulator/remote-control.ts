import { request, RequestProblem } from "../../../page/parts/request.js";
import {
  CONTROL_PREFIX,
  controlMethods,
  type DescribedOperation,
  type SendControl,
} from "../../../service/emulator/control/control-client.js";
import type { EmulatorControl } from "../../../service/emulator/instance/create-emulator.js";
import type { Cli } from "../../console/cli.js";
import { CliError, environmentError, EXIT, usageError } from "../../console/exit.js";
import { httpUrl } from "../../console/options.js";

/** Where an emulator listens, and where these commands look for one. */
export const DEFAULT_EMULATOR_URL = "http://127.0.0.1:4010";

/**
 * Connects to the emulator at `url`, or to the one that the environment names.
 *
 * @throws CliError when no emulator answers there; each operation throws one when it is refused
 */
export async function connectControl(
  url: URL | undefined,
  { env, signal }: Pick<Cli, "env" | "signal">,
  timeoutMs?: number,
): Promise<{ control: EmulatorControl; origin: string }> {
  const { origin } = url ?? (await serviceUrl(env));
  const token = env["SIGNALS_CONTROL_TOKEN"] || undefined;
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const send: SendControl = async (method, path, input) => {
    const until =
      timeoutMs === undefined ? signal : AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    try {
      const options = { ...input, headers, signal: until, redirect: "error" } as const;
      return await request<unknown>(method, `${origin}${path}`, options);
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof RequestProblem ? cliError(error, origin) : unreachable(origin);
    }
  };
  const described = (await send("GET", CONTROL_PREFIX, {})) as Described | null | undefined;
  if (!Array.isArray(described?.operations)) throw notAnEmulator(origin);
  return { control: controlMethods<EmulatorControl>(described.operations, send), origin };
}

type Described = { operations?: DescribedOperation[] };

/**
 * @throws CliError for another machine: it may be the real service, which must not get the control
 * token
 */
async function serviceUrl({ SIGNALS_BASE_URL: text = "" }: NodeJS.ProcessEnv): Promise<URL> {
  let url: URL;
  try {
    url = httpUrl(text === "" ? DEFAULT_EMULATOR_URL : text);
  } catch {
    throw usageError(`SIGNALS_BASE_URL is not an address like ${DEFAULT_EMULATOR_URL}/v1`);
  }
  const { isLoopbackHost } = await import("../../../base/addresses/address-kind.js");
  if (isLoopbackHost(url.hostname)) return url;
  throw usageError(
    `SIGNALS_BASE_URL is not an address of this machine: give --base-url for an emulator on ${url.host}`,
  );
}

function cliError({ status, code, message }: RequestProblem, origin: string): CliError {
  if (status === 0) return unreachable(origin);
  // Another server may answer with JSON too.
  if (code === "unexpected_answer") return notAnEmulator(origin);
  const explained = HELP_OF_TOKEN.get(code) ?? message.replace(/\.$/, "");
  return new CliError(status < 500 ? EXIT.usage : EXIT.environment, explained);
}

const unreachable = (origin: string): CliError =>
  environmentError(
    `nothing answers at ${origin}: start the service with \`npx signalbox emulator\``,
  );

const notAnEmulator = (origin: string): CliError =>
  environmentError(`what answers at ${origin} is not an emulator: give --base-url`);

const HELP_OF_TOKEN = new Map([
  ["API_KEY_MISSING", "this emulator has a control token: set SIGNALS_CONTROL_TOKEN to it"],
  ["API_KEY_INVALID", "SIGNALS_CONTROL_TOKEN is not the control token of this emulator"],
  ["API_KEY_NOT_ALLOWED", "this emulator has no control token: unset SIGNALS_CONTROL_TOKEN"],
]);
