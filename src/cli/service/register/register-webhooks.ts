import { isClientError } from "../../../service/client/client-error.js";
import { createClient, type Client } from "../../../service/client/client.js";
import type { ServiceLocale } from "../../../service/contract/shared-schemas.js";
import type { NewRegistration } from "../../../service/contract/webhook-registration.js";
import type { Cli } from "../../console/cli.js";
import type { CommandContext } from "../../console/define-command.js";
import {
  CliError,
  EXIT,
  toUsageError,
  usageError,
  type ExitCode,
  environmentError,
} from "../../console/exit.js";
import { readBytes, readDotenv } from "../../console/options.js";
import { echoed, printable, shellQuote } from "../../console/terminal.js";
import { readSignalTypes } from "../signal-type-list.js";
import { openSecretWriter, type SecretWriter } from "./secret-writer.js";
import { waitUntilActive } from "./wait-until-active.js";

interface RegisterOptions {
  baseUrl?: string;
  apiKey?: string;
  apiKeyFile?: string;
  dotenv?: string;
  url: string;
  types?: string[];
  allTypes?: true;
  locale: ServiceLocale;
  secretFile: string;
  timeout: number;
  json?: true;
}

export async function registerWebhooks(
  options: RegisterOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const { dotenv, url, locale, timeout, json } = options;
  const { env: variables } = context.cli;
  const cli = {
    ...context.cli,
    env: dotenv === undefined ? variables : readDotenv(dotenv, variables),
  };
  const { terminal, signal, setUnfinished } = cli;
  const lists = readSignalTypes(options);
  const { client, baseUrl } = connect(options, cli.env);
  const file = printable(options.secretFile);

  const noteWait = (): void =>
    terminal.note(
      `waiting up to ${timeout} s for an answer that may hold a secret; press Ctrl-C again to stop now`,
    );
  signal.addEventListener("abort", noteWait, { once: true });
  const done: NewRegistration[] = [];
  try {
    for (const types of lists) {
      signal.throwIfAborted();
      terminal.progress(`registering ${done.length + 1} of ${lists.length}`);
      const writer = openSecretWriter(options.secretFile);
      // Ctrl-C does not end the call, because the secret in its answer would be lost.
      setUnfinished({
        atMostMs: timeout * 1000,
        ifInterrupted:
          `${printable(url)} may be registered with a secret that is lost. If the dashboard shows this registration, delete it there. ` +
          `After that, delete ${printable(writer.lock)}`,
      });
      const asked = { url, locale, signal_types: types };
      const registration = await registerAndKeep(client, asked, writer, file);
      setUnfinished(null);
      done.push(registration);
      if (writer.takesRights) {
        terminal.note(`other users of this machine had access to ${file}: its mode is 0600 now`);
      }
      const { signing_secret: _secret, ...shown } = registration;
      if (json) terminal.printJson({ ...shown, secret_file: options.secretFile });
      else terminal.print(lineOf(registration));
    }
  } catch (error) {
    const explained = explainFailure(error);
    // After Ctrl-C, `runCli` prints no error, so the error is printed here.
    if (signal.aborted && explained instanceof CliError) terminal.note(explained.message);
    if (done.length > 0) {
      const others = lists.slice(done.length).flat().join(",");
      terminal.note(`${placeOf(done)} in ${file}; to register the other signal types, type`);
      terminal.note(`the same command with these types alone: --types ${others}`);
    }
    throw explained;
  } finally {
    setUnfinished(null);
    signal.removeEventListener("abort", noteWait);
  }
  terminal.note(`${placeOf(done)} in ${file}`);
  return reportStatus(done, { ...options, baseUrl }, cli);
}

async function reportStatus(
  done: readonly NewRegistration[],
  options: RegisterOptions & { baseUrl: string },
  cli: Cli,
): Promise<ExitCode> {
  const { print, printJson, note, paint } = cli.terminal;
  const outcome = await waitUntilActive(done, options, { ...cli, note });
  const failure = typeof outcome === "object" ? outcome : null;
  const ok = failure === null;
  if (options.json) {
    const { found = null, fix = null } = failure ?? {};
    const registrations = done.map(({ id }) => id);
    printJson({
      summary: { ok, registrations, status: ok ? outcome : "failed", found, fix },
    });
  } else if (failure !== null) {
    const check = ["--url", options.url, "--secret-file", options.secretFile];
    print(`${paint.red("not active")}: ${failure.found}`);
    print(`  ${failure.fix}`);
    print(
      "  The registration stays, so do not register again. When the receiver is ready, this says whether it would be verified:",
    );
    print(`  $ npx signalbox doctor ${check.map((word) => shellQuote(printable(word))).join(" ")}`);
  } else if (outcome === "active") {
    const all = done.length === 1 ? "the registration is" : `all ${done.length} registrations are`;
    print(paint.green(`${all} active`));
  } else {
    print("the receiver answers verifications with this secret");
    print("the service's own verification is asynchronous, and its dashboard shows the status");
  }
  return ok ? EXIT.ok : EXIT.failed;
}

function connect(options: RegisterOptions, env: NodeJS.ProcessEnv) {
  const baseUrl = options.baseUrl ?? env["SIGNALS_BASE_URL"] ?? "";
  if (baseUrl === "")
    throw usageError("no address of the service: set SIGNALS_BASE_URL, or give --base-url <url>");
  const apiKey = readApiKey(options, env);
  try {
    const client = createClient({
      baseUrl,
      apiKey,
      timeoutMs: options.timeout * 1000,
      // Without retries, because the user sees the error and can repeat the command.
      retry: { maxAttempts: 1 },
      userAgent: "signalbox",
    });
    return { client, baseUrl };
  } catch (error) {
    const source = options.baseUrl === undefined ? "SIGNALS_BASE_URL" : "--base-url";
    throw toUsageError(error, { baseUrl: source });
  }
}

function readApiKey({ apiKey, apiKeyFile }: RegisterOptions, env: NodeJS.ProcessEnv): string {
  if (apiKey !== undefined && apiKeyFile !== undefined)
    throw usageError("give --api-key or --api-key-file, not both");
  // Trimmed, because an editor may have added a line end.
  const key =
    apiKeyFile === undefined
      ? (apiKey ?? env["SIGNALS_API_KEY"] ?? "")
      : readBytes(apiKeyFile).toString().trim();
  if (key !== "") return key;
  throw usageError(
    apiKeyFile === undefined
      ? "no API key: set SIGNALS_API_KEY, or give --api-key-file <file>"
      : `the file ${apiKeyFile} contains no API key`,
  );
}

function placeOf(done: readonly NewRegistration[]): string {
  const ids = done.map(({ id }) => echoed(id)).join(", ");
  return done.length === 1 ? `the secret of ${ids} is` : `the secrets of ${ids} are`;
}

function lineOf({ id, status, signal_types: types }: NewRegistration): string {
  const [first = ""] = types;
  return `${echoed(id)}  ${status}  ${types.length === 1 ? echoed(first) : `${types.length} signal types`}`;
}

/**
 * Translates errors of the client into errors of the command line. Returns other errors unchanged.
 */
function explainFailure(error: unknown): unknown {
  if (!isClientError(error)) return error;
  const { kind, status, message } = error;
  const hint = status === 404 ? "; does --base-url lack its prefix, such as /v1?" : "";
  // If the user can correct the cause on the command line, the exit code is that of wrong usage.
  const isUsage = kind === "invalid_request" || kind === "api_key" || status === 400;
  return new CliError(
    isUsage ? EXIT.usage : EXIT.environment,
    `${message.replace(/\.$/, "")}${hint}`,
  );
}

/** Does what `signalbox register --all-types` does, at an emulator of this process. */
export async function registerAllTypes(
  client: Pick<Client, "registerWebhook">,
  { url, secretFile }: { url: string; secretFile: string },
): Promise<NewRegistration[]> {
  const registrations: NewRegistration[] = [];
  for (const types of readSignalTypes({ allTypes: true })) {
    const asked = { url, signal_types: types };
    const writer = openSecretWriter(secretFile);
    registrations.push(await registerAndKeep(client, asked, writer, secretFile));
  }
  return registrations;
}

/**
 * Registers, stores the secret, and closes the writer. Also stores the secret of an answer that
 * does not fit the service's document, because the service shows it once.
 *
 * @param file the secret file, for the error
 * @throws CliError when the secret was not stored as it should; ClientError when nothing was
 * registered
 */
async function registerAndKeep(
  client: Pick<Client, "registerWebhook">,
  asked: Parameters<Client["registerWebhook"]>[0],
  writer: SecretWriter,
  file: string,
): Promise<NewRegistration> {
  try {
    const registration = await client.registerWebhook(asked);
    keep(registration.signing_secret, registration.id);
    return registration;
  } catch (error) {
    const made = isClientError(error) ? (error.answer as Partial<NewRegistration> | null) : null;
    if (typeof made?.signing_secret !== "string") throw error;
    const id = typeof made.id === "string" ? made.id : "a webhook";
    keep(made.signing_secret, id);
    throw environmentError(
      `${echoed(id)} is registered, and its secret is in ${file}, but the service's answer is not as its document says`,
    );
  } finally {
    writer.close();
  }

  function keep(secret: string, id: string): void {
    try {
      writer.add(secret);
    } catch (error) {
      const why = error instanceof CliError ? error.message : String(error);
      throw environmentError(`${echoed(id)} is registered, but ${why}`);
    }
  }
}
