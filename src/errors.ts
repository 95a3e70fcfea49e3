/** All codes of a {@link SignalboxError}. docs/errors.md explains each. */
export type SignalboxErrorCode =
  | "option_unknown"
  | "option_invalid"
  | "secret_invalid"
  | "timestamp_invalid"
  | "receiver_closed"
  | "store_in_use"
  | "store_unsupported"
  | "store_newer"
  | "store_corrupt"
  | "store_failed"
  | "store_row_refused"
  | "wait_failed"
  | "port_in_use"
  | "address_unusable"
  | "emulator_not_running"
  | "permanent_failure"
  | "retry_later";

const BRAND = Symbol.for("signalbox.error");

/**
 * The base class of all errors of this package. Branch on `code`, never on `message`, which ends with `help`.
 */
export class SignalboxError extends Error {
  /** The kind of error. */
  readonly code: SignalboxErrorCode;
  /** What to do about the error; empty if the message is enough. */
  readonly help: string;
  /** @internal the same symbol in every installed copy of the package, for `isSignalboxError` */
  readonly [BRAND] = true;

  constructor(code: SignalboxErrorCode, message: string, help: string, options?: { cause?: unknown }) {
    super(help === "" ? message : `${message} ${help}`, options);
    this.name = "SignalboxError";
    this.code = code;
    this.help = help;
  }
}

/** True for any `SignalboxError`, even from another installed copy of the package. */
export function isSignalboxError(value: unknown): value is SignalboxError {
  try {
    return typeof value === "object" && value !== null && BRAND in value;
  } catch {
    // `in` throws for a proxy whose `has` trap throws.
    return false;
  }
}

/** Like `instanceof Error`, which throws for a proxy whose trap throws. */
export function isError(value: unknown): value is Error {
  try {
    return value instanceof Error;
  } catch {
    return false;
  }
}

/** The name of a thrown value of any type. Never throws. */
export function errorName(error: unknown): string {
  try {
    const name: unknown = error instanceof Error ? error.name : typeof error;
    return typeof name === "string" ? name : "Error";
  } catch {
    return "unknown";
  }
}

/** Longest text of {@link describeError}, in UTF-16 units. */
const MAX_DESCRIPTION_LENGTH = 4000;
const MAX_CAUSES = 4;

/**
 * Name, message, stack and causes of a thrown value of any type, cut at the end. The first line has the name and the start of
 * the message. Every store can keep this text: it is well-formed and has no NUL. Never throws.
 */
export function describeError(error: unknown): string {
  let text: string;
  try {
    text = error instanceof Error ? stackWithCauses(error, MAX_CAUSES) : `thrown: ${String(error)}`;
  } catch {
    text = "thrown: a value without text";
  }
  return text.slice(0, MAX_DESCRIPTION_LENGTH).replaceAll("\0", "\ufffd").toWellFormed();
}

function stackWithCauses(error: Error, maxCauses: number): string {
  const { name, message, stack = "", cause } = error;
  // A stack begins with name and message as they were when the error was made. If they were changed later, only its calls are used.
  const isCurrent = stack.startsWith(name) && stack.includes(message);
  const text = isCurrent ? stack : `${name}: ${message}${/\n +at [^]*/.exec(stack)?.[0] ?? ""}`;
  if (!(cause instanceof Error) || maxCauses === 0) return text;
  return `${text}\ncaused by ${stackWithCauses(cause, maxCauses - 1)}`;
}
