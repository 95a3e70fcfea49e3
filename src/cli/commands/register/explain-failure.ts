import { isClientError, type ClientError } from "../../../client/client-error.js";
import { CliError, EXIT, type ExitCode } from "../../options/exit.js";
import { printable } from "../../console/printable.js";
import { shellQuote } from "../../console/shell-quote.js";
import type { RegisterOptions } from "./register-options.js";

/** A failure of the service's, or on the way to it, in the words of the command line; any other as it is. */
export function explainFailure(error: unknown): unknown {
  if (!isClientError(error)) return error;
  const hint = error.status === 404 ? "; does --base-url lack its prefix, such as /v1?" : "";
  return new CliError(exitCodeOf(error), `${error.message.replace(/\.$/, "")}${hint}`);
}

/** Wrong usage is what nobody but the person at the keyboard can mend. */
function exitCodeOf({ kind, status }: ClientError): ExitCode {
  return kind === "invalid_request" || kind === "api_key" || status === 400 ? EXIT.usage : EXIT.environment;
}

/** After a part of the registrations: what to type for the rest. */
export function restOf(types: readonly string[], options: RegisterOptions): string {
  const { url, locale, secretFile, baseUrl, apiKeyFile } = options;
  const words = ["signalbox", "register", "--url", url, "--types", types.join(","), "--secret-file", secretFile];
  if (locale !== "en") words.push("--locale", locale);
  if (baseUrl !== undefined) words.push("--base-url", baseUrl);
  if (apiKeyFile !== undefined) words.push("--api-key-file", apiKeyFile);
  return words.map((word) => shellQuote(printable(word))).join(" ");
}

/** When nobody waited for the answer. */
export function whenCutShort(url: string, lock: string): string {
  return (
    `${printable(url)} may be registered, with a secret that nobody has: look in the dashboard, and delete it there. ` +
    `Then delete ${printable(lock)}`
  );
}
