import type { EmulatorControl } from "../../../service/emulator/instance/create-emulator.js";
import { CliError, environmentError, EXIT, usageError } from "../../console/exit.js";
import { httpUrl } from "../../console/parse-option.js";

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

interface Described {
  name: string;
  method: string;
  path: string;
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
  async function call(method: string, path: string, body?: object): Promise<unknown> {
    const headers = {
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...(body !== undefined && { "Content-Type": "application/json" }),
    };
    let response: Response;
    try {
      const until =
        timeoutMs === undefined
          ? signal
          : AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      const init = {
        method,
        headers,
        signal: until,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      };
      response = await fetch(`${origin}${path}`, { ...init, redirect: "error" });
    } catch {
      signal.throwIfAborted();
      throw environmentError(
        `nothing answers at ${origin}: start the service with \`npx signalbox emulator\``,
      );
    }
    const answer: unknown = await response.json().catch(() => null);
    if (response.ok && answer !== null) return answer;
    const { error } = (answer ?? {}) as { error?: { code: string; message: string } };
    // Another server may answer with JSON too.
    if (typeof error?.message !== "string") throw notAnEmulator(origin);
    throw new CliError(response.status < 500 ? EXIT.usage : EXIT.environment, explain(error));
  }

  const { operations } = (await call("GET", "/_emulator")) as { operations?: Described[] };
  if (!Array.isArray(operations)) throw notAnEmulator(origin);
  const methods = operations.map(({ name, method, path }) => {
    const run = (input: Record<string, unknown> = {}): Promise<unknown> => {
      const rest = new Map(Object.entries(input).filter(([, value]) => value !== undefined));
      const filled = path.replaceAll(/\{(\w+)\}/g, (_braces, key: string) => {
        const value = String(rest.get(key));
        rest.delete(key);
        return encodeURIComponent(value);
      });
      if (method !== "GET") return call(method, filled, Object.fromEntries(rest));
      const query = new URLSearchParams(
        [...rest].map(([key, value]): [string, string] => [key, String(value)]),
      );
      return call(method, rest.size === 0 ? filled : `${filled}?${query.toString()}`);
    };
    return [name, run];
  });
  // The emulator has named its operations itself, and those of this version have these types.
  return Object.fromEntries(methods) as EmulatorControl;
}

const notAnEmulator = (origin: string): CliError =>
  environmentError(`what answers at ${origin} is not an emulator: give --base-url`);

function explain({ code, message }: { code: string; message: string }): string {
  if (code === "API_KEY_MISSING")
    return "this emulator has a control token: set SIGNALS_CONTROL_TOKEN to it";
  if (code === "API_KEY_INVALID")
    return "SIGNALS_CONTROL_TOKEN is not the control token of this emulator";
  if (code === "API_KEY_NOT_ALLOWED")
    return "this emulator has no control token: unset SIGNALS_CONTROL_TOKEN";
  return message.replace(/\.$/, "");
}
