import type { ServiceLocale } from "../../../service/contract/locale.js";
import { createClient, type Client } from "../../../service/client/client.js";
import { isClientError } from "../../../service/client/client-error.js";
import type { ClientOptions } from "../../../service/client/client-options.js";
import type { NewRegistration } from "../../../service/contract/webhook-registration.js";
import type { KnownSignalType } from "../../../kit/senders/signals/signal-types.js";
import type { Cli } from "../../console/cli.js";
import { type CommandContext } from "../../console/define-command.js";
import {
  CliError,
  EXIT,
  environmentError,
  toUsageError,
  usageError,
  type ExitCode,
} from "../../console/exit.js";
import { echoed, printable } from "../../console/printable.js";
import { shellQuote } from "../../console/shell-quote.js";
import type { Terminal } from "../../console/terminal.js";
import { readBytes, readDotenv } from "../../console/read-input.js";
import { openSecretWriter, type SecretWriter } from "./secret-writer.js";
import { readSignalTypes } from "../signal-type-list.js";
import { waitUntilActive } from "./wait-until-active.js";

export interface RegisterOptions {
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
  const { dotenv } = options;
  const { env } = context.cli;
  const cli = { ...context.cli, env: dotenv === undefined ? env : readDotenv(dotenv, env) };
  const { terminal, signal } = cli;
  const lists = readSignalTypes(options);
  const baseUrl = options.baseUrl ?? cli.env["SIGNALS_BASE_URL"] ?? "";
  if (baseUrl === "")
    throw usageError("no address of the service: set SIGNALS_BASE_URL, or give --base-url <url>");
  const apiKey = readApiKey(options, cli.env);
  // Without retries, because the user sees the error and can repeat the command.
  const retry = { maxAttempts: 1 };
  const timeoutMs = options.timeout * 1000;
  const client = clientFor({ baseUrl, apiKey, timeoutMs, retry, userAgent: "signalbox" }, options);

  const noteWait = (): void =>
    terminal.note(
      `waiting up to ${options.timeout} s for an answer that may hold a secret; press Ctrl-C again to stop now`,
    );
  signal.addEventListener("abort", noteWait, { once: true });
  const done: NewRegistration[] = [];
  for (const [index, types] of lists.entries()) {
    try {
      signal.throwIfAborted();
      terminal.progress(`registering ${index + 1} of ${lists.length}`);
      const registration = await registerOne(client, types, options, cli);
      done.push(registration);
      report(registration, options, terminal);
    } catch (error) {
      const explained = explainFailure(error);
      // After Ctrl-C, `runCli` prints no error, so the error is printed here.
      if (signal.aborted && explained instanceof CliError) terminal.note(explained.message);
      if (done.length > 0) {
        const others = lists.slice(index).flat().join(",");
        terminal.note(
          `${placeOf(done)} in ${printable(options.secretFile)}; to register the other signal types, type`,
        );
        terminal.note(`the same command with these types alone: --types ${others}`);
      }
      throw explained;
    } finally {
      cli.setUnfinished(null);
    }
  }
  signal.removeEventListener("abort", noteWait);
  terminal.note(`${placeOf(done)} in ${printable(options.secretFile)}`);
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
  if (options.json) {
    const { found = null, fix = null } = failure ?? {};
    const status = failure === null ? outcome : "failed";
    printJson({
      summary: {
        ok: failure === null,
        registrations: done.map(({ id }) => id),
        status,
        found,
        fix,
      },
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
    print(
      paint.green(
        done.length === 1
          ? "the registration is active"
          : `all ${done.length} registrations are active`,
      ),
    );
  } else {
    print("the receiver answers verifications with this secret");
    print("the service's own verification is asynchronous, and its dashboard shows the status");
  }
  return failure === null ? EXIT.ok : EXIT.failed;
}

function readApiKey({ apiKey, apiKeyFile }: RegisterOptions, env: NodeJS.ProcessEnv): string {
  if (apiKey !== undefined && apiKeyFile !== undefined)
    throw usageError("give --api-key or --api-key-file, not both");
  if (apiKeyFile === undefined) {
    const given = apiKey ?? (env["SIGNALS_API_KEY"] || undefined);
    if (given !== undefined) return given;
    throw usageError("no API key: set SIGNALS_API_KEY, or give --api-key-file <file>");
  }
  // Trimmed, because an editor may have added a line end.
  const key = readBytes(apiKeyFile).toString().trim();
  if (key === "") throw usageError(`the file ${apiKeyFile} contains no API key`);
  return key;
}

function clientFor(clientOptions: ClientOptions, { baseUrl }: RegisterOptions): Client {
  try {
    return createClient(clientOptions);
  } catch (error) {
    throw toUsageError(error, {
      baseUrl: baseUrl === undefined ? "SIGNALS_BASE_URL" : "--base-url",
    });
  }
}

function placeOf(done: readonly NewRegistration[]): string {
  const ids = done.map(({ id }) => echoed(id)).join(", ");
  return done.length === 1 ? `the secret of ${ids} is` : `the secrets of ${ids} are`;
}

/**
 * Registers one list, and stores the secret. Ctrl-C does not end the call, because the secret in
 * its answer would be lost.
 */
async function registerOne(
  client: Client,
  types: KnownSignalType[],
  { url, locale, secretFile, timeout }: RegisterOptions,
  { terminal, setUnfinished }: Cli,
): Promise<NewRegistration> {
  const writer = openSecretWriter(secretFile);
  try {
    const ifInterrupted =
      `${printable(url)} may be registered with a secret that is lost. If the dashboard shows this registration, delete it there. ` +
      `After that, delete ${printable(writer.lock)}`;
    setUnfinished({ atMostMs: timeout * 1000, ifInterrupted });
    const registration = await client.registerWebhook({ url, locale, signal_types: types });
    keep(writer, registration.signing_secret, registration.id);
    if (writer.takesRights) {
      terminal.note(
        `other users of this machine had access to ${printable(secretFile)}: its mode is 0600 now`,
      );
    }
    return registration;
  } catch (error) {
    const made = registeredAnyway(error);
    if (made === null) throw error;
    keep(writer, made.secret, made.id);
    throw environmentError(
      `${echoed(made.id)} is registered, and its secret is in ${printable(secretFile)}, but the service's answer is not as its document says`,
    );
  } finally {
    writer.close();
  }
}

function keep(writer: SecretWriter, secret: string, id: string): void {
  try {
    writer.add(secret);
  } catch (error) {
    const why = error instanceof CliError ? error.message : String(error);
    throw environmentError(`${echoed(id)} is registered, but ${why}`);
  }
}

/**
 * Finds the secret in an answer that the client refused because the answer does not fit the
 * service's document.
 */
function registeredAnyway(error: unknown): { id: string; secret: string } | null {
  const answer = isClientError(error) ? error.answer : null;
  if (typeof answer !== "object" || answer === null || !("signing_secret" in answer)) return null;
  const { signing_secret: secret } = answer;
  const id = "id" in answer && typeof answer.id === "string" ? answer.id : "a webhook";
  return typeof secret === "string" ? { id, secret } : null;
}

function report(
  registration: NewRegistration,
  { secretFile, json }: RegisterOptions,
  terminal: Terminal,
): void {
  const { signing_secret: _secret, ...shown } = registration;
  if (json === true) return terminal.printJson({ ...shown, secret_file: secretFile });
  const { id, status, signal_types: types } = registration;
  terminal.print(
    `${echoed(id)}  ${status}  ${types.length === 1 ? echoed(types[0] ?? "") : `${types.length} signal types`}`,
  );
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
