const BRAND = Symbol.for("signalbox.error");
/**
 * The base class of all errors of this package. Branch on `code`, never on `message`, which ends
 * with `help`.
 */
export class SignalboxError extends Error {
    /** The kind of error. */
    code;
    /** What to do about the error; empty if the message is enough. */
    help;
    /** @internal the same symbol in every installed copy of the package, for `isSignalboxError` */
    [BRAND] = true;
    constructor(code, message, help, options) {
        super(help === "" ? message : `${message} ${help}`, options);
        this.name = "SignalboxError";
        this.code = code;
        this.help = help;
    }
}
/** True for any `SignalboxError`, even from another installed copy of the package. */
export function isSignalboxError(value) {
    return signalboxCode(value) !== null;
}
/** The code of a `SignalboxError`; null for any other value. Never throws. */
export function signalboxCode(value) {
    const read = () => {
        const { [BRAND]: brand, code } = value;
        return brand === true && typeof code === "string" ? code : null;
    };
    return safely(read, null);
}
/** Reads a value that user code threw: its getters, and the traps of a proxy, may throw too. */
export function safely(read, otherwise) {
    try {
        return read();
    }
    catch {
        return otherwise;
    }
}
/** For rejections that are reported elsewhere, or have no consequence. */
export function ignore() { }
/** The `code` of an error of a driver, the system or the network; empty if it has none. */
export function codeOf(error) {
    const code = error?.code;
    return typeof code === "string" ? code : "";
}
/** Like `instanceof Error`, which throws for a proxy whose trap throws. */
export function isError(value) {
    return safely(() => value instanceof Error, false);
}
/** The name of a thrown value of any type, cut at the end. Never throws. */
export function errorName(error) {
    const read = () => (error instanceof Error ? error.name : typeof error);
    return safely(() => cutMessage(String(read())), "unknown");
}
/** Longest text of {@link describeError}, in UTF-16 units. */
const MAX_DESCRIPTION_LENGTH = 4000;
/** Leaves room for the stack and the causes. */
const MAX_MESSAGE_LENGTH = 1000;
/** Most causes of causes, and most errors of one AggregateError. */
const MAX_CAUSES = 4;
/**
 * Name, message, stack and causes of a thrown value of any type, cut at the end. The first line has
 * the name and the start of the message. Every store can keep this text: it is well-formed and has
 * no NUL. Never throws.
 */
export function describeError(error) {
    const text = `${isError(error) ? "" : "thrown: "}${withCauses(error, MAX_CAUSES)}`;
    return text.slice(0, MAX_DESCRIPTION_LENGTH).replaceAll("\0", "\ufffd").toWellFormed();
}
function withCauses(error, maxCauses) {
    const describe = () => {
        const text = cutMessage(String(error));
        if (!isError(error))
            return text;
        // A stack begins with name and message as they were when the error was made, so only its calls
        // are used.
        const calls = safely(() => /\n +at [^]*/.exec(String(error.stack))?.[0], undefined) ?? "";
        const errors = error instanceof AggregateError ? error.errors.slice(0, MAX_CAUSES) : [];
        const causes = [error.cause, ...errors].filter((each) => maxCauses > 0 && each !== undefined && each !== null);
        return [`${text}${calls}`, ...causes.map((each) => withCauses(each, maxCauses - 1))].join("\ncaused by ");
    };
    return safely(describe, "a value that cannot be read");
}
function cutMessage(text) {
    return text.length > MAX_MESSAGE_LENGTH ? `${text.slice(0, MAX_MESSAGE_LENGTH)}…` : text;
}
