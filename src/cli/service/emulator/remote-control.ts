import { request, RequestProblem } from "../../../page/parts/request.js";
import {
  CONTROL_PREFIX,
  controlMethods,
  type DescribedOperation,
  type SendControl,
} from "../../../service/emulator/control/control-client.js";
import type { EmulatorControl } from "../../../service/emulator/instance/create-emulator.js";
import { CliError, environmentError, EXIT, usageError } from "../../console/exit.js";
import { httpUrl } from "../../console/options.js";

/** Where an emulator listens, and where these commands look for one. */
export const DEFAULT_EMULATOR_URL = "http://127.0.0.1:4010";

/**
 * @throws CliError for another machine: it may be the real service, which must not get the control
 * token
 */
export async function serviceUrl({ SIGNALS_BASE_URL: text = "" }: NodeJS.ProcessEnv): Promise<URL> {
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

/**
 * @throws CliError when no emulator answers at `origin`; each operation throws one when it is
 * refused
 */
export async function connectControl(
  origin: string,
  {
    token,
    signal,
    timeoutMs,
  }: { token: string | undefined; signal: AbortSignal; timeoutMs?: number },
): Promise<EmulatorControl> {
  const headers: Record<string, string> =
    token === undefined ? {} : { Authorization: `Bearer ${token}` };
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
  const described = (await send("GET", CONTROL_PREFIX, {})) as
    | {
        operations?: DescribedOperation[];
      }
    | null
    | undefined;
  if (!Array.isArray(described?.operations)) throw notAnEmulator(origin);
  return controlMethods<EmulatorControl>(described.operations, send);
}

function cliError({ status, code, message }: RequestProblem, origin: string): CliError {
  if (status === 0) return unreachable(origin);
  // Another server may answer with JSON too.
  if (code === "unexpected_answer") return notAnEmulator(origin);
  return new CliError(status < 500 ? EXIT.usage : EXIT.environment, explain(code, message));
}

const unreachable = (origin: string): CliError =>
  environmentError(
    `nothing answers at ${origin}: start the service with \`npx signalbox emulator\``,
  );

const notAnEmulator = (origin: string): CliError =>
  environmentError(`what answers at ${origin} is not an emulator: give --base-url`);

function explain(code: string, message: string): string {
  if (code === "API_KEY_MISSING")
    return "this emulator has a control token: set SIGNALS_CONTROL_TOKEN to it";
  if (code === "API_KEY_INVALID")
    return "SIGNALS_CONTROL_TOKEN is not the control token of this emulator";
  if (code === "API_KEY_NOT_ALLOWED")
    return "this emulator has no control token: unset SIGNALS_CONTROL_TOKEN";
  return message.replace(/\.$/, "");
}
