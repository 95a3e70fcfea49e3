import type { ServiceLocale } from "../../../api/locale.js";
import { createClient, type Client } from "../../../client/client.js";
import { isClientError, type ClientError } from "../../../client/client-error.js";
import type { ClientOptions } from "../../../client/client-options.js";
import type { NewRegistration } from "../../../api/webhook-registration.js";
import type { KnownSignalType } from "../../../events/signal-types.js";
import { readServiceAccess, type ServiceOptions } from "../../options/api-key.js";
import type { Cli } from "../../console/cli.js";
import { throwIfInterrupted, type CommandContext } from "../../options/define-command.js";
import { CliError, EXIT, environmentError, toUsageError, type ExitCode } from "../../options/exit.js";
import { echoed, printable } from "../../console/printable.js";
import { shellQuote } from "../../console/shell-quote.js";
import type { Terminal } from "../../console/terminal.js";
import { openSecretWriter, type SecretWriter } from "./secret-writer.js";
import { readSignalTypes } from "./signal-type-list.js";

/** What was typed after `signalbox register`. */
export interface RegisterOptions extends ServiceOptions {
  url: string;
  types?: string[];
  allTypes?: true;
  locale: ServiceLocale;
  secretFile: string;
  timeout: number;
  json?: true;
}

/** Registers once for each list of signal types, and keeps each secret as soon as the service shows it. */
export async function registerWebhooks(options: RegisterOptions, { cli }: CommandContext): Promise<ExitCode> {
  const { terminal, signal } = cli;
  const lists = readSignalTypes(options);
  const { baseUrl, apiKey } = readServiceAccess(options, cli);
  // One attempt: a person sees what is wrong, and types it again.
  const retry = { maxAttempts: 1 };
  const timeoutMs = options.timeout * 1000;
  const client = clientFor({ baseUrl, apiKey, timeoutMs, retry, userAgent: "signalbox" }, options);

  const noteWait = (): void =>
    terminal.note(`waiting up to ${options.timeout} s for an answer that may hold a secret; Ctrl-C again ends at once`);
  signal.addEventListener("abort", noteWait, { once: true });
  const done: NewRegistration[] = [];
  for (const [index, types] of lists.entries()) {
    try {
      throwIfInterrupted(signal);
      terminal.progress(`registering ${index + 1} of ${lists.length}`);
      const registration = await registerOne(client, types, options, cli);
      done.push(registration);
      report(registration, options, terminal);
    } catch (error) {
      const explained = explainFailure(error);
      // After an interruption the caller prints no error, so this does.
      if (signal.aborted && isFailure(explained)) terminal.note(explained.message);
      if (done.length > 0) {
        terminal.note(`${placeOf(done)} in ${printable(options.secretFile)}; for the other signal types type:`);
        terminal.note(`  ${restOf(lists.slice(index).flat(), options)}`);
      }
      throw explained;
    } finally {
      cli.setUnfinished(null);
    }
  }
  signal.removeEventListener("abort", noteWait);
  terminal.note(`${placeOf(done)} in ${printable(options.secretFile)}; the service posts a webhook.verification now`);
  return EXIT.ok;
}

function clientFor(clientOptions: ClientOptions, { baseUrl }: RegisterOptions): Client {
  try {
    return createClient(clientOptions);
  } catch (error) {
    throw toUsageError(error, { baseUrl: baseUrl === undefined ? "SIGNALS_BASE_URL" : "--base-url" });
  }
}

function isFailure(error: unknown): error is CliError {
  return error instanceof CliError && error.exitCode !== EXIT.interrupted;
}

function placeOf(done: readonly NewRegistration[]): string {
  const ids = done.map(({ id }) => echoed(id)).join(", ");
  return done.length === 1 ? `the secret of ${ids} is` : `the secrets of ${ids} are`;
}

/** An interruption does not cut the call short: its secret would be lost. */
async function registerOne(
  client: Client,
  types: KnownSignalType[],
  { url, locale, secretFile, timeout }: RegisterOptions,
  { terminal, setUnfinished }: Cli,
): Promise<NewRegistration> {
  const writer = openSecretWriter(secretFile);
  try {
    setUnfinished({ atMostMs: timeout * 1000, ifCutShort: whenCutShort(url, writer.lock) });
    const registration = await client.registerWebhook({ url, locale, signal_types: types });
    keep(writer, registration.signing_secret, registration.id);
    if (writer.takesRights) {
      terminal.note(`others on this machine could use ${printable(secretFile)}: its mode is 0600 now`);
    }
    return registration;
  } catch (error) {
    const made = madeAnyway(error);
    if (made === null) throw error;
    keep(writer, made.secret, made.id);
    terminal.note(`the answer holds a secret all the same; it is in ${printable(secretFile)}`);
    throw error;
  } finally {
    writer.close();
  }
}

function keep(writer: SecretWriter, secret: string, id: string): void {
  try {
    writer.add(secret);
  } catch (error) {
    const why = error instanceof CliError ? error.message : String(error);
    throw environmentError(`${echoed(id)} is registered: ${why}`);
  }
}

/** A registration that was made, though its answer does not fit the document. */
function madeAnyway(error: unknown): { id: string; secret: string } | null {
  const answer = isClientError(error) ? error.answer : null;
  if (typeof answer !== "object" || answer === null || !("signing_secret" in answer)) return null;
  const { signing_secret: secret } = answer;
  const id = "id" in answer && typeof answer.id === "string" ? answer.id : "a webhook";
  return typeof secret === "string" ? { id, secret } : null;
}

/** Prints all but the secret. */
function report(registration: NewRegistration, { secretFile, json }: RegisterOptions, terminal: Terminal): void {
  const { signing_secret: _secret, ...shown } = registration;
  if (json === true) return terminal.printJson({ ...shown, secret_file: secretFile });
  const { id, status, signal_types: types } = registration;
  terminal.print(
    `${echoed(id)}  ${status}  ${types.length === 1 ? echoed(types[0] ?? "") : `${types.length} signal types`}`,
  );
}

/** A failure of the service, or on the way to it, as an error of the command line. Any other error stays as it is. */
function explainFailure(error: unknown): unknown {
  if (!isClientError(error)) return error;
  const hint = error.status === 404 ? "; does --base-url lack its prefix, such as /v1?" : "";
  return new CliError(exitCodeOf(error), `${error.message.replace(/\.$/, "")}${hint}`);
}

/** Wrong usage is what the user of the command line can fix by typing something else. */
function exitCodeOf({ kind, status }: ClientError): ExitCode {
  return kind === "invalid_request" || kind === "api_key" || status === 400 ? EXIT.usage : EXIT.environment;
}

/** After some of the registrations: the command for the rest. */
function restOf(types: readonly string[], options: RegisterOptions): string {
  const { url, locale, secretFile, baseUrl, apiKeyFile } = options;
  const words = ["signalbox", "register", "--url", url, "--types", types.join(","), "--secret-file", secretFile];
  if (locale !== "en") words.push("--locale", locale);
  if (baseUrl !== undefined) words.push("--base-url", baseUrl);
  if (apiKeyFile !== undefined) words.push("--api-key-file", apiKeyFile);
  return words.map((word) => shellQuote(printable(word))).join(" ");
}

/** For a user who did not wait for the answer. */
function whenCutShort(url: string, lock: string): string {
  return (
    `${printable(url)} may be registered, with a secret that is lost: find it in the dashboard, and delete it there. ` +
    `Then delete ${printable(lock)}`
  );
}
