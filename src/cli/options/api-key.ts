import type { Cli } from "../console/cli.js";
import { usageError } from "./exit.js";
import { readBytes } from "./read-input.js";

export interface ServiceOptions {
  baseUrl?: string;
  apiKey?: string;
  apiKeyFile?: string;
  dotenv?: string;
}

export function readServiceAccess(options: ServiceOptions, { env }: Pick<Cli, "env">) {
  const baseUrl = options.baseUrl ?? env["SIGNALS_BASE_URL"] ?? "";
  if (baseUrl === "") throw usageError("no address of the service: set SIGNALS_BASE_URL, or give --base-url <url>");
  return { baseUrl, apiKey: readApiKey(options, env) };
}

function readApiKey({ apiKey, apiKeyFile }: ServiceOptions, env: NodeJS.ProcessEnv): string {
  if (apiKey !== undefined && apiKeyFile !== undefined) throw usageError("give --api-key or --api-key-file, not both");
  if (apiKeyFile !== undefined) return keyIn(apiKeyFile);
  const key = apiKey ?? env["SIGNALS_API_KEY"] ?? "";
  if (key === "") throw usageError("no API key: set SIGNALS_API_KEY, or give --api-key-file <file>");
  return key;
}

/** The key is trimmed, because an editor may have added a line end. No key contains a space. */
function keyIn(file: string): string {
  const key = readBytes(file).toString().trim();
  if (key === "") throw usageError(`the file ${file} contains no API key`);
  return key;
}
