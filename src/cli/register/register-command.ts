import { Option, type Command } from "commander";
import { LOCALES } from "../../api/locale.js";
import { createClient, type Client } from "../../client/client.js";
import { isClientError } from "../../client/client-error.js";
import type { NewRegistration } from "../../client/new-registration.js";
import { SIGNAL_TYPES, type KnownSignalType } from "../../events/signal-types.js";
import { addServiceOptions, readServiceAccess } from "../api-key.js";
import { runs, throwIfInterrupted, withExamples, type CommandContext } from "../define-command.js";
import { CliError, EXIT, environmentError, type ExitCode } from "../exit.js";
import { collect, httpUrl, wholeNumber } from "../parse-option.js";
import { echoed } from "../printable.js";
import type { Terminal } from "../terminal.js";
import { explainFailure, restOf } from "./explain-failure.js";
import type { RegisterOptions } from "./register-options.js";
import { openSecretWriter, type SecretWriter } from "./secret-writer.js";
import { MOST_SIGNAL_TYPES, readSignalTypes } from "./signal-type-list.js";

const DEFAULT_SECRET_FILE = "signals.secret";
const URL = "https://hooks.example/webhooks/signals";

export function addRegisterCommand(program: Command, context: CommandContext): void {
  const command = program
    .command("register")
    .description(
      "Register a receiver at the service, and keep the signing secret, which is shown once, in a file that the receiver " +
        `reads (\`secretFile\`). One registration takes ${MOST_SIGNAL_TYPES} signal types: for more there are several, each with ` +
        "a secret of its own.",
    )
    .requiredOption("--url <url>", "the receiver's public address, as the service is to call it", address)
    .addOption(
      new Option("--types <list>", "signal types, with commas between; repeatable")
        .argParser(collect)
        .conflicts("allTypes"),
    )
    .option("--all-types", `all ${SIGNAL_TYPES.length} signal types`)
    .addOption(new Option("--locale <locale>", "the language of the signals").choices(LOCALES).default("en"))
    .option("--secret-file <file>", "where the secrets are added, one a line, mode 0600", DEFAULT_SECRET_FILE);
  addServiceOptions(command)
    .option("--timeout <seconds>", "how long to wait for an answer", wholeNumber(1, 50), 30)
    .option("--json", "print NDJSON");
  withExamples(command, [
    [`signalbox register --url ${URL} --all-types`, "All signals: two registrations"],
    [`signalbox register --url ${URL} --types price_increased,price_decreased`, "Some of them"],
    [`signalbox register --url ${URL} --all-types --secret-file /run/app/signals.secret`, "Secrets in another file"],
  ]).addHelpText("after", `\nSignal types:\n${inLines(SIGNAL_TYPES)}`);
  runs(command, context, (options: RegisterOptions) => register(options, context));
}

async function register(options: RegisterOptions, { cli }: CommandContext): Promise<ExitCode> {
  const { terminal, signal } = cli;
  const lists = readSignalTypes(options);
  const { baseUrl, apiKey } = readServiceAccess(options, cli);
  // One attempt: a person sees what is wrong, and types it again.
  const retry = { maxAttempts: 1 };
  const client = createClient({ baseUrl, apiKey, timeoutMs: options.timeout * 1000, retry, userAgent: "signalbox" });

  signal.addEventListener("abort", () => terminal.note("waiting for an answer that may hold a secret"), { once: true });
  const done: NewRegistration[] = [];
  for (const [index, types] of lists.entries()) {
    try {
      throwIfInterrupted(signal);
      terminal.progress(`registering ${index + 1} of ${lists.length}`);
      const registration = await registerOne(client, types, options, terminal);
      done.push(registration);
      report(registration, options, terminal);
    } catch (error) {
      if (done.length > 0) {
        terminal.note(`${whose(done)} in ${options.secretFile}; for the other signal types type:`);
        terminal.note(`  ${restOf(lists.slice(index).flat(), options)}`);
      }
      throw explainFailure(error);
    }
  }
  terminal.note(`${whose(done)} in ${options.secretFile}; the service posts a webhook.verification now`);
  return EXIT.ok;
}

function whose(done: readonly NewRegistration[]): string {
  const ids = done.map(({ id }) => echoed(id)).join(", ");
  return done.length === 1 ? `the secret of ${ids} is` : `the secrets of ${ids} are`;
}

/** An interruption does not cut it short: the secret would be lost. */
async function registerOne(
  client: Client,
  types: KnownSignalType[],
  { url, locale, secretFile }: RegisterOptions,
  terminal: Terminal,
): Promise<NewRegistration> {
  const writer = openSecretWriter(secretFile);
  try {
    const registration = await client.registerWebhook({ url, locale, signal_types: types });
    keep(writer, registration.signing_secret, registration.id);
    if (writer.takesRights) terminal.note(`others on this machine could use ${secretFile}: its mode is 0600 now`);
    return registration;
  } catch (error) {
    const made = madeAnyway(error);
    if (made === null) throw error;
    keep(writer, made.secret, made.id);
    terminal.note(`the answer holds a secret all the same; it is in ${secretFile}`);
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
    throw environmentError(`${echoed(id)} is registered and its secret lost: ${why}. Delete it in the dashboard`);
  }
}

/** A registration that was made, and answered in a form that is not the documented one. */
function madeAnyway(error: unknown): { id: string; secret: string } | null {
  const answer = isClientError(error) ? error.answer : null;
  if (typeof answer !== "object" || answer === null || !("signing_secret" in answer)) return null;
  const { signing_secret: secret } = answer;
  const id = "id" in answer && typeof answer.id === "string" ? answer.id : "a webhook";
  return typeof secret === "string" ? { id, secret } : null;
}

/** All but the secret. */
function report(registration: NewRegistration, { secretFile, json }: RegisterOptions, terminal: Terminal): void {
  const { signing_secret: _secret, ...shown } = registration;
  if (json === true) return terminal.printJson({ ...shown, secret_file: secretFile });
  const { id, status, signal_types: types } = registration;
  terminal.print(
    `${echoed(id)}  ${status}  ${types.length === 1 ? echoed(types[0] ?? "") : `${types.length} signal types`}`,
  );
}

/** The text as it was typed, if it is an address: which ones it takes is for the service to say. */
function address(text: string): string {
  httpUrl(text);
  return text;
}

function inLines(names: readonly string[]): string {
  const lines: string[] = [];
  for (const name of names) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + name.length < 110) lines[lines.length - 1] = `${line}, ${name}`;
    else lines.push(`  ${name}`);
  }
  return lines.join(",\n");
}
