import type { Command } from "commander";
import { readFileSync } from "node:fs";
import type { Cli } from "../console/cli.js";
import { environmentError, usageError } from "./exit.js";
import { notBlank } from "./parse-option.js";

export interface ServiceOptions {
  baseUrl?: string;
  apiKey?: string;
  apiKeyFile?: string;
}

export function addServiceOptions(command: Command): Command {
  return command
    .option(
      "--base-url <url>",
      "the service's API, such as https://api.example/v1 (default: SIGNALS_BASE_URL)",
      notBlank,
    )
    .option("--api-key <key>", "the API key; others on this machine can see it in the process list", notBlank)
    .option("--api-key-file <file>", "a file with the API key (default: SIGNALS_API_KEY)", notBlank);
}

/** Where the service is, and the key for it. */
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

/** The key without blanks around it, which an editor may have left. No key holds a blank. */
function keyIn(file: string): string {
  let key: string;
  try {
    key = readFileSync(file, "utf8").trim();
  } catch (error) {
    throw environmentError(`cannot read the file ${file} (${(error as NodeJS.ErrnoException).code ?? "error"})`);
  }
  if (key === "") throw usageError(`the file ${file} holds no API key`);
  return key;
}
