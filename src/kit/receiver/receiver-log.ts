import { Readable } from "node:stream";
import type { Logger } from "pino";
import {
  describeError,
  errorName,
  isError,
  isSignalboxError,
  safely,
  signalboxCode,
  ignore,
} from "../../base/errors.js";
import type { Clock } from "../../base/time/clock.js";
import type { InboxStore } from "../inbox/store.js";
import type { EventFacts } from "../senders/engine/sender.js";
import type { EventReference, ReceiverEventName, ReceiverEvents } from "./receiver-events.js";
import type { RejectionCode } from "./rejection.js";

type Level = "debug" | "info" | "warn" | "error";

/** The methods that a logger must have. `handoff.logger` needs `child`. */
export const LOGGER_METHODS = ["debug", "info", "warn", "error", "child"] as const;

export type ReceiverLog = ReturnType<typeof createReceiverLog>;

/**
 * Writes the receiver's lines to the user's logger. Errors of the logger are dropped: they must not
 * end the process, or a hand-off before its settlement.
 */
export function createReceiverLog(logger: Logger, logErrors: boolean) {
  /** @returns false if the logger threw */
  function write(level: Level, fields: object, text: string): boolean {
    try {
      const written: unknown = logger[level](fields, text);
      if (written instanceof Promise) written.catch(ignore);
      return true;
    } catch {
      return false;
    }
  }
  const lineOf = (level: Level) => (fields: object, text: string) =>
    void write(level, fields, text);

  /**
   * Writes a line about an error of the user's code: in full, or with `logErrors: false` its name
   * alone.
   */
  function failure(level: Level, fields: object, error: unknown, text: string): void {
    const named = { ...fields, errorName: errorName(error) };
    // The logger may be unable to serialise an error, for example one that is frozen or has a
    // getter that throws. A value that is no error may be a whole payload. Both are written as
    // text.
    if (!logErrors) write(level, named, text);
    else if (!isError(error) || !write(level, { ...named, err: error }, text)) {
      write(level, { ...named, err: describeError(error) }, text);
    }
  }

  return {
    debug: lineOf("debug"),
    info: lineOf("info"),
    warn: lineOf("warn"),
    error: lineOf("error"),
    failure,
    /** Like `failure`, but an error of this package is told by its code and text alone. */
    problem(level: Level, fields: object, error: unknown, text: string): void {
      const told = { code: errorCode(error), problem: errorText(error), ...fields };
      if (isSignalboxError(error)) write(level, told, text);
      else failure(level, told, error, text);
    },
  };
}

export function errorCode(error: unknown): string {
  return signalboxCode(error) ?? errorName(error);
}

/**
 * @returns what happened and what to do; undefined unless it is a SignalboxError, because other
 * messages may quote the payload
 */
function errorText(error: unknown): string | undefined {
  return isSignalboxError(error) ? safely(() => error.message, undefined) : undefined;
}

type LogThrottle = ReturnType<typeof createLogThrottle>;

const WINDOW_MS = 1000;

/**
 * Allows one line a second for each key, so that a flood of forged deliveries does not become a
 * flood of log lines.
 *
 * @returns a function. It returns null when the line must be suppressed; otherwise how many lines
 * with this key were suppressed since the last written line.
 */
export function createLogThrottle(clock: Clock) {
  const windows = new Map<string, { endsAt: number; suppressed: number }>();
  return (key: string): number | null => {
    const now = clock.elapsed();
    const window = windows.get(key);
    if (window !== undefined && now < window.endsAt) {
      window.suppressed += 1;
      return null;
    }
    windows.set(key, { endsAt: now + WINDOW_MS, suppressed: 0 });
    return window?.suppressed ?? 0;
  };
}

const MOST_UNHANDLED = 1000;
const REPEATED =
  "an event has the bytes of an earlier one under a new id; it is handed off as possibly repeated";

interface Logging {
  log: ReceiverLog;
  throttle: LogThrottle;
  endpoint: string;
}

/** Logs what the receiver emits. */
export function logEvents(
  events: ReceiverEvents,
  { log, throttle, endpoint }: Logging,
  unsignedId: boolean,
): void {
  const conflict = unsignedId
    ? "a known event id came with other content; it was stored as an event of its own, whose id ends with ~ and a hash"
    : "a known event id has another body; the first body is kept";
  const write = (name: ReceiverEventName, level: Level, text: string) =>
    events.on(name, (event) => log[level](event, text));
  write("accepted", "debug", "accepted an event");
  write("duplicate", "debug", "acknowledged a duplicate");
  write("conflict", "warn", conflict);
  write("quarantined", "warn", "stored an authentic but unusable event in quarantine");
  write("verified", "info", "answered the verification challenge");
  write("handedOff", "debug", "handed an event off");
  write("dead", "error", "an event is dead; `signalbox inbox retry` hands it off again");
  events.on("rejected", ({ code, status, requestId }) => {
    // `logTrouble` logs those whose reason the user can remove. The others (such as `overloaded`)
    // are only counted.
    if (status === 500 || status === 503 || code === "body_too_large") return;
    const suppressed = throttle(code);
    if (suppressed !== null)
      log.warn({ endpoint, code, status, requestId, suppressed }, "refused a delivery");
  });
}

const TROUBLE: Partial<Record<RejectionCode, string>> = {
  body_too_large:
    "refused a delivery whose body is larger than the option bodyLimitBytes; if it is of your sender, set a larger one and send it again, " +
    "since no retry heals that",
  secret_unavailable: "the secret source gave no signing secret; the delivery got 503",
  store_unavailable: "the event could not be stored; the delivery got 503",
};

/** A refusal whose reason the user can remove. */
export interface Trouble {
  code: RejectionCode;
  /** Null when no error caused it. */
  cause: unknown;
  /** What the caller gave as the body. */
  body: unknown;
  /** Its size, as far as it is known. */
  bodyBytes: number | null;
  bodyLimitBytes: number;
}

/** The lines of a receiver about itself, and about what it can store or hand off. */
export function createReceiverLines({ log, throttle, endpoint }: Logging, store: InboxStore) {
  /** The types that were logged as unhandled. */
  const unhandled = new Set<string>();
  let hasFailed = false;

  /** One line a second. */
  function seldom(key: string, write: (suppressed: number) => void): void {
    const suppressed = throttle(key);
    if (suppressed !== null) write(suppressed);
  }

  return {
    started(reclaimed: number, shortage: string | null): void {
      if (shortage !== null) log.warn({ store: store.name }, shortage);
      if (!store.durable)
        log.warn({ store: store.name }, "this store loses its events when the process ends");
      log.info({ endpoint, store: store.name, reclaimed }, "receiver started");
    },
    notRunning: (state: string) =>
      seldom("not started", (suppressed) =>
        log.warn(
          { state, suppressed },
          "start() was not called, or has not resolved; deliveries get 503",
        ),
      ),
    /** @param failure of a commit; null when commits work again */
    health(failure: unknown): void {
      if (failure === null) log.info({}, "the inbox works again");
      else if (!hasFailed) {
        log.problem(
          "error",
          {},
          failure,
          "the inbox failed; deliveries get 503, or stored events wait",
        );
      }
      hasFailed = failure !== null;
    },
    trouble({ code, cause, body, bodyBytes, bodyLimitBytes }: Trouble): void {
      seldom(`trouble ${code}`, (suppressed) => {
        const text =
          code === "body_unavailable"
            ? lostBodyAdvice(body)
            : (TROUBLE[code] ?? "a delivery could not be taken");
        const fields = { code, suppressed, cause: errorCode(cause), problem: errorText(cause) };
        if (code === "body_too_large")
          log.warn({ endpoint, code, bodyBytes, bodyLimitBytes, suppressed }, text);
        else if (cause === null) log.error({ code, suppressed }, text);
        // The text of an error from a source of secrets may quote a secret.
        else if (code === "secret_unavailable") log.error(fields, text);
        else log.problem("error", fields, cause, text);
      });
    },
    repeated: (event: EventReference) =>
      seldom("repeated", (suppressed) => log.info({ ...event, suppressed }, REPEATED)),
    unhandled(type: string): void {
      if (unhandled.has(type) || unhandled.size >= MOST_UNHANDLED) return;
      unhandled.add(type);
      log.info(
        { endpoint, type },
        "onEvent has no function for events of this type; they are stored as done",
      );
    },
    laneFailed: (error: unknown, consequence: string, { id, type }: EventFacts) =>
      seldom(consequence, (suppressed) =>
        log.failure("error", { endpoint, eventId: id, type, suppressed }, error, consequence),
      ),
    telemetryFailed: (error: unknown) =>
      seldom("telemetry", (suppressed) =>
        log.problem(
          "warn",
          { suppressed },
          error,
          "telemetry failed: traces and metrics may be missing, deliveries and hand-offs are not affected",
        ),
      ),
    notPruned: (error: unknown) => log.problem("warn", {}, error, "old events could not be pruned"),
    inboxNotClosed: () =>
      log.error(
        { store: store.name },
        "the inbox does not answer; what is open of it ends with the process",
      ),
    secretsNotClosed: (error: unknown) =>
      log.warn({ code: errorCode(error) }, "the secret source could not be closed"),
    closed: () => log.info({ endpoint }, "receiver closed"),
  };
}

const STREAM =
  "Let nothing read it before, or keep its bytes as a Buffer in request.rawBody. In Fastify, use fastifyPlugin(receiver)";
const EXPRESS =
  "In Express, mount expressHandler(receiver) before express.json(), or use express.json({ verify: captureRawBody }); " +
  "in NestJS, NestFactory.create(AppModule, { rawBody: true })";
const NEXT_PAGES =
  "In a pages route of Next.js, export const config = { api: { bodyParser: false } }";
const FETCH =
  "Give the request to fetchHandler first, or give request.clone() to what reads it before";
const HANDLE =
  "Give receiver.handle the bytes as received. On AWS Lambda: " +
  'body: Buffer.from(event.body ?? "", event.isBase64Encoded ? "base64" : "utf8")';

/**
 * What the log says when the original bytes cannot be had: the way out on the platform that the
 * body comes from.
 *
 * @param body what an adapter or a caller of `receiver.handle` gave as the body
 */
function lostBodyAdvice(body: unknown): string {
  return `the bytes of the body did not get to signalbox, so their signature cannot be checked. ${adviceFor(body)}`;
}

function adviceFor(body: unknown): string {
  if (!(body instanceof Readable)) {
    return typeof body === "object" && body !== null && Symbol.asyncIterator in body
      ? FETCH
      : HANDLE;
  }
  // `app` is of Express (NestJS has it too), `previewData` of Next.js.
  const advice = "app" in body ? EXPRESS : "previewData" in body ? NEXT_PAGES : STREAM;
  if (typeof (body as { rawBody?: unknown }).rawBody !== "string") return advice;
  return `${advice}. The text in request.rawBody is not used: decoding may have changed it, so keep the Buffer`;
}
