import { codeOf, isSignalboxError, SignalboxError } from "../../../base/errors.js";

/** The first pattern that matches the code gives the help. */
const HELP: readonly (readonly [RegExp, string])[] = [
  [
    /^(42P01|42883|3F000|42703)$/,
    "A table or function of the inbox is missing. Restore it from a backup; docs/postgres.md.",
  ],
  [
    /^42501$/,
    "Grant the role what docs/postgres.md lists, or let a role that owns the schema start the receiver once.",
  ],
  [
    /^01000$/,
    "Someone cancelled the wait for the synchronous standby. Check why the standby does not answer.",
  ],
  [
    /^25006$/,
    "The server is a standby: connect to the primary. Or default_transaction_read_only is on: set it to off for the role.",
  ],
  [/^(28|3D000)/, "Check the user, the password and the name of the database."],
  [
    /^53300$/,
    "The server has no free connection. Raise its max_connections, or make the pools smaller.",
  ],
  [/^53/, "Free disk space or memory of the database server. Until then the receiver answers 503."],
  [
    /^ERR_INVALID_URL$/,
    "The connection string is no URL. In a password, write / as %2F, # as %23, and so on.",
  ],
  [
    /^57014$/,
    "A statement_timeout of the role or the server ended it. Set it to 0 for the role of the receiver.",
  ],
  [/^08P01$/, "If it is pgbouncer: it refuses `options` in a connection string; docs/postgres.md."],
  [
    /^ETIMEDOUT$/,
    "Check that the server can be reached, and that its synchronous standby answers, if it has one. A running receiver continues by itself.",
  ],
  [
    /^(57P|08|E[A-Z]+$|$)/,
    "Check that the server runs and can be reached. A running receiver continues by itself.",
  ],
];

/**
 * The server's sentence of these has names of roles, databases, hosts and tables, but no password
 * and no value of a row.
 */
const WITH_SENTENCE = /^(28...|3D...|08...|53...|57P..|42501)$/;

/** Converts an error of pg or of PostgreSQL. @param schema of the inbox, for the message */
export function storeError(error: unknown, schema: string): SignalboxError {
  if (isSignalboxError(error)) return error;
  const code = codeOf(error);
  const { message: text = "unknown error" } = error as { message?: string };
  // 54000: an id is longer than an index can hold.
  if (/^(22|23|54000)/.test(code)) {
    const message = `The inbox in the schema ${schema} refused a row (${code}).`;
    return new SignalboxError("store_row_refused", message, "", { cause: error });
  }
  const help =
    HELP.find(([pattern]) => pattern.test(code))?.[1] ?? "The cause is in the error's `cause`.";
  const reason = code === "" ? text : WITH_SENTENCE.test(code) ? `${code}: ${text}` : code;
  const message = `The inbox in the schema ${schema} failed (${reason}).`;
  return new SignalboxError("store_failed", message, help, { cause: error });
}
