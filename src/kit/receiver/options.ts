import { pino, type Logger } from "pino";
import { z } from "zod";
import { OptionError, checkOptions } from "../../base/options/option-error.js";
import {
  clockOption,
  functionOption,
  millisecondsOption,
  objectOption,
} from "../../base/options/option-schemas.js";
import { systemClock, type Clock } from "../../base/time/clock.js";
import { DAY_MS, MINUTE_MS } from "../../base/time/units.js";
import type { BatcherLimits } from "../inbox/batcher.js";
import { fullJitter, type Backoff } from "../inbox/dispatch/outcomes.js";
import type { HandoffCallback, HandoffOptions } from "../inbox/handoff.js";
import { RETENTION, type RetentionOptions } from "../inbox/deleting/retention.js";
import type { InboxStore } from "../inbox/store.js";
import type { AnySender, Sender } from "../senders/engine/sender.js";
import type { Signal, TestEvent } from "../senders/signals/envelope.js";
import { signals } from "../senders/signals/signals.js";
import { DEFAULT_TOLERANCE_SECONDS } from "../senders/signature/verify.js";
import { findCallbackIn, type FindCallback, type OnEvent } from "./event-handlers.js";
import { BY_SUBJECT, type CoalesceOptions, type OrderOptions } from "./order.js";
import { LOGGER_METHODS } from "./receiver-log.js";
import { createSecrets, type SecretsOption } from "./secrets/secrets.js";
import type { Telemetry } from "./telemetry.js";

/** The options of `createReceiver`. A value of `undefined` means absent. */
export interface ReceiverOptions {
  /**
   * The signing secrets, or where to get them. The service shows a secret when a webhook is
   * registered.
   */
  secrets: SecretsOption;
  /**
   * The tenant of a delivery, by its address (path and query, also below a mount of the framework)
   * or its headers (by their names in lower case): 1 to 64 of `a-z`, `0-9`, `_` and `-`. It chooses
   * the secret. Null, another text, and what is thrown, which is logged: answered 404. @default none
   */
  tenant?:
    | ((request: { url: string; headers: Readonly<Record<string, string>> }) => string | null)
    | undefined;
  /**
   * The tenant that a signed event names. Another one than that of its delivery is answered 401, and
   * so is what is thrown, and logged, and a body that cannot be read. Needed where tenants share a
   * secret: otherwise a captured delivery of one could be sent to another. @default none
   */
  tenantOf?: ((event: Signal | TestEvent) => string) | undefined;
  /** Where accepted events are kept, such as `sqliteStore("signals.db")`. */
  store: InboxStore;
  /**
   * Called with each signal, at least once. Resolve once your system has saved the signal; reject
   * to get it again. Throw `PermanentFailure` to make the event dead, or `RetryLater` to get it
   * later without using up an attempt.
   */
  onSignal: HandoffCallback<Signal>;
  /** Called with each `webhook.test` event. @default none: test events are only stored */
  onTest?: HandoffCallback<TestEvent> | undefined;
  /**
   * The name of this receiver in its store. Event ids are remembered for each endpoint. @default
   * "default"
   */
  endpoint?: string | undefined;
  /**
   * How far a signature's timestamp may be in the past or in the future, in seconds. @default 300
   */
  toleranceSeconds?: number | undefined;
  /**
   * Largest body, in bytes as received; a larger body is refused with `body_too_large`. @default
   * 262144
   */
  bodyLimitBytes?: number | undefined;
  /**
   * Milliseconds for a body to arrive; a slower body is refused with `body_timeout`. @default 10000
   */
  bodyTimeoutMs?: number | undefined;
  /**
   * Milliseconds from a body's last byte to the answer; after this time the answer is
   * `ack_timeout`. @default 3000
   */
  ackTimeoutMs?: number | undefined;
  /**
   * Milliseconds that a delivery waits for its secret if no secret is known yet or a new one is
   * about to be stored: the service posts a verification right after it shows the secret, before a
   * user can store it. Must be less than `ackTimeoutMs`; with 0 no delivery waits. @default 2000,
   * or two thirds of `ackTimeoutMs`
   */
  secretWaitMs?: number | undefined;
  /**
   * Limits of the events that wait for their commit; above them deliveries are refused with
   * `overloaded`. Bodies that are still arriving share the bytes; when these are used up, the body
   * that has been arriving longest is refused.
   * @default 4096 events, 33554432 bytes (32 MiB)
   */
  maxQueued?: { [Limit in keyof BatcherLimits]?: number | undefined } | undefined;
  /**
   * Hands off the events with one key one at a time, in the order in which they were accepted.
   * `true`: by their subject. @default no order
   */
  order?: true | OrderOptions<Signal | TestEvent> | undefined;
  /** With `order`: one hand-off for a burst of events about one thing. @default each alone */
  coalesce?: CoalesceOptions<Signal | TestEvent> | undefined;
  /** Concurrency, timeout and retries of hand-offs. */
  handoff?: HandoffOptions | undefined;
  /** How long done events are kept. */
  retention?: RetentionOptions | undefined;
  /**
   * When the alarm `quiet` begins. With it, also empty, the receiver looks for alarms for its
   * metrics too. @default only listeners of `receiver.on("alarm")` are told
   */
  alarms?: AlarmsOptions | undefined;
  /** A pino logger, or `false` to log nothing. @default pino at level info, to stdout */
  logger?: Logger | false | undefined;
  /**
   * Whether the errors that your functions throw are logged with message, stack and cause. With
   * `false` only their names are logged, for errors that quote payloads. The inbox keeps the last
   * error of an event in any case. @default true
   */
  logErrors?: boolean | undefined;
  /** Traces and metrics: `openTelemetry()` of `signalbox/opentelemetry`. @default none */
  telemetry?: Telemetry | undefined;
  /** The clock; for tests. @default the system's clock */
  clock?: Clock | undefined;
}

/** The option `alarms`. */
export interface AlarmsOptions {
  /**
   * Milliseconds without a new event until the alarm `quiet` begins, longer than the sender's
   * longest night or weekend: from a minute to 7 days. @default never
   */
  quietAfterMs?: number | undefined;
}

/** The options of `createReceiver` for a sender of `signalbox/senders`, or one of your own. */
export interface SenderReceiverOptions<Events extends object> extends Omit<
  ReceiverOptions,
  "onSignal" | "onTest" | "order" | "coalesce" | "tenantOf"
> {
  /**
   * Who sends, such as `stripe()`. It has its own defaults of `bodyLimitBytes`, `ackTimeoutMs` and
   * `toleranceSeconds`.
   */
  sender: Sender<Events>;
  /**
   * Called with each event, at least once: one function, or an object with a function for each
   * type, such as `{ "invoice.paid": fn, "charge.*": fn, "*": fn }`. An event without a function is
   * stored as `done`. Resolve once your system has saved the event; reject to get it again.
   */
  onEvent: OnEvent<Events>;
  /** As without a sender. */
  tenantOf?: ((event: Events[keyof Events]) => string) | undefined;
  /**
   * Hands off the events with one key one at a time, in the order in which they were accepted.
   * `true`: by their subject. @default no order
   */
  order?: true | OrderOptions<Events[keyof Events]> | undefined;
  /** With `order`: one hand-off for a burst of events about one thing. @default each alone */
  coalesce?: CoalesceOptions<Events[keyof Events]> | undefined;
}

const FACTORY = { name: "createReceiver", page: "docs/receiver.md" };

/**
 * Each option has one schema here, of the type that its interface declares. The compiler refuses one
 * that is missing, and one that takes something else.
 */
type Schemas = {
  [Option in keyof ReceiverOptions]-?: z.ZodType<unknown, ReceiverOptions[Option] | undefined>;
} & Record<"sender" | "onEvent", z.ZodType>;

const count = z.int().min(1);

/** A star stands only at the end. */
const PATTERN = /^(?!\s)([^*]*[^*\s]|[^*]*\*)$/;
const NO_PATTERN = "expected a type, or the beginning of one and a star";

// `prefault({})` fills an absent group with the defaults of its members.
const optionsSchema = z.strictObject({
  // Checked by `createSecrets`, whose error has a separate code.
  secrets: z.custom<SecretsOption>().optional(),
  tenant: functionOption<NonNullable<ReceiverOptions["tenant"]>>().optional(),
  tenantOf: functionOption<NonNullable<ReceiverOptions["tenantOf"]>>().optional(),
  store: objectOption<InboxStore>("a store, such as sqliteStore(path)", "open", "commit", "close"),
  sender: objectOption<AnySender>(
    "a sender of signalbox/senders, such as stripe()",
    "signature",
    "read",
  ).optional(),
  onSignal: functionOption<HandoffCallback<Signal>>().optional(),
  onTest: functionOption<HandoffCallback<TestEvent>>().optional(),
  onEvent: z
    .union([
      functionOption<HandoffCallback<never>>(),
      z.record(z.string(), functionOption<HandoffCallback<never>>().optional()),
    ])
    .optional(),
  endpoint: z
    .string()
    .regex(/^[\w.-]{1,100}$/, "expected 1 to 100 letters, digits, dots, hyphens or underscores")
    .default("default"),
  toleranceSeconds: z.number().min(1).optional(),
  bodyLimitBytes: count.optional(),
  bodyTimeoutMs: millisecondsOption.default(10_000),
  ackTimeoutMs: millisecondsOption.optional(),
  secretWaitMs: z.int().min(0).optional(),
  maxQueued: z.strictObject({ events: count.default(4096), bytes: count.optional() }).prefault({}),
  // Not a union, whose error would not name the wrong member.
  order: z
    .custom<true | OrderOptions<Signal | TestEvent>>()
    .transform((order) => (order === true ? BY_SUBJECT : order))
    .pipe(
      z.strictObject(
        {
          by: functionOption<OrderOptions<Signal | TestEvent>["by"]>(),
          whenDead: z.enum(["block", "skip"]).optional(),
        },
        { error: ({ code }) => (code === "invalid_type" ? "expected true or { by }" : undefined) },
      ),
    )
    .optional(),
  coalesce: z
    .strictObject({
      types: z.array(z.string().regex(PATTERN, NO_PATTERN)).min(1, "expected a type"),
      quietMs: millisecondsOption,
      longestMs: millisecondsOption,
      newest: functionOption<(event: Signal | TestEvent) => string | number>().optional(),
    })
    .optional(),
  handoff: z
    .strictObject({
      concurrency: count.max(10_000).default(16),
      timeoutMs: millisecondsOption.default(30_000),
      maxAttempts: count.default(20),
      backoff: z
        .union([
          functionOption<Backoff>(),
          z.strictObject({
            baseMs: z.number().min(0).optional(),
            factor: z.number().min(1).optional(),
            maxMs: z.number().min(0).optional(),
          }),
        ])
        .prefault({}),
    })
    .prefault({}),
  retention: z
    .strictObject({
      keyDays: z
        .number()
        .min(
          RETENTION.leastKeyDays,
          `expected at least ${RETENTION.leastKeyDays} days; otherwise an event that the sender retries for longer is accepted twice`,
        )
        .default(RETENTION.keyDays),
      payloadDays: z.number().min(0).default(RETENTION.payloadDays),
      maxBytes: z.number().min(0).optional(),
    })
    .prefault({}),
  alarms: z
    .strictObject({
      quietAfterMs: z
        .int()
        .min(MINUTE_MS)
        .max(7 * DAY_MS)
        .optional(),
    })
    .optional(),
  logger: z
    .union([z.literal(false), objectOption<Logger>("a pino logger or false", ...LOGGER_METHODS)])
    .optional(),
  logErrors: z.boolean().default(true),
  telemetry: objectOption<Telemetry>(
    "openTelemetry() of signalbox/opentelemetry",
    "observe",
  ).optional(),
  clock: clockOption.default(systemClock),
} satisfies Schemas);

/** @throws SignalboxError `option_unknown`, `option_invalid`, `secret_invalid` */
export function resolveOptions<Events extends object>(
  options: ReceiverOptions | SenderReceiverOptions<Events>,
) {
  const { secrets, handoff, logger, telemetry, ...config } = checkOptions(
    FACTORY,
    optionsSchema,
    options,
  );
  const { sender = signals, retention, tenant, tenantOf } = config;
  const { ackTimeoutMs = sender.limits.ackTimeoutMs ?? 3000 } = config;
  const { bodyLimitBytes = sender.limits.bodyLimitBytes ?? 262_144 } = config;
  const { toleranceSeconds = sender.limits.toleranceSeconds ?? DEFAULT_TOLERANCE_SECONDS } = config;
  // The last third of `ackTimeoutMs` is left for the store.
  const { secretWaitMs = Math.floor((ackTimeoutMs * 2) / 3) } = config;
  const { events, bytes = Math.max(32 * MIB, (sender.limits.bodyLimitBytes ?? 0) * 4) } =
    config.maxQueued;
  const contradictions = [
    [
      retention.payloadDays > retention.keyDays,
      "retention.payloadDays",
      "expected at most retention.keyDays",
    ],
    [bytes < bodyLimitBytes, "maxQueued.bytes", "expected at least bodyLimitBytes"],
    [
      config.coalesce !== undefined && config.order === undefined,
      "coalesce",
      "it needs the option order, whose key says what a burst is about",
    ],
    [
      config.coalesce !== undefined && config.coalesce.longestMs < config.coalesce.quietMs,
      "coalesce.longestMs",
      "expected at least coalesce.quietMs",
    ],
    [secretWaitMs >= ackTimeoutMs, "secretWaitMs", "expected less than ackTimeoutMs"],
    [
      tenant && !tenantOf && (typeof secrets !== "function" || secrets.length === 0),
      "tenantOf",
      "expected a function, since the tenants share a secret; or take secrets: ({ tenant }) => …",
    ],
    [tenantOf && !tenant, "tenantOf", "it needs the option tenant"],
  ] as const;
  for (const [isWrong, option, problem] of contradictions)
    if (isWrong) throw new OptionError(FACTORY, option, problem);
  const { backoff } = handoff;
  return {
    ...config,
    sender,
    findCallback: callbacksOf(config),
    ackTimeoutMs,
    bodyLimitBytes,
    toleranceSeconds,
    secretWaitMs,
    maxQueued: { events, bytes },
    telemetry: telemetry ?? null,
    secrets: createSecrets(secrets, sender, tenant && config.clock),
    handoff: { ...handoff, backoff: typeof backoff === "function" ? backoff : fullJitter(backoff) },
    logger: logger === false ? pino({ enabled: false }) : (logger ?? pino({ name: "signalbox" })),
  };
}

type Callbacks = Pick<z.output<typeof optionsSchema>, "sender" | "onSignal" | "onTest" | "onEvent">;

/**
 * @throws SignalboxError `option_invalid` for callbacks that do not belong to the sender, and when
 * there is none
 */
function callbacksOf({ sender, onSignal, onTest, onEvent }: Callbacks): FindCallback {
  if (sender === undefined) {
    if (onEvent !== undefined)
      throw new OptionError(
        FACTORY,
        "onEvent",
        "it needs the option sender; for signals use onSignal",
      );
    if (onSignal === undefined) throw new OptionError(FACTORY, "onSignal", "expected a function");
    return findCallbackIn({ "signal.published": onSignal, "webhook.test": onTest });
  }
  const foreign = onSignal === undefined ? (onTest === undefined ? null : "onTest") : "onSignal";
  if (foreign !== null)
    throw new OptionError(FACTORY, foreign, `with the option sender use onEvent`);
  if (onEvent === undefined)
    throw new OptionError(
      FACTORY,
      "onEvent",
      "expected a function, or an object of functions by type",
    );
  const useless = Object.keys(onEvent).find((pattern) => !PATTERN.test(pattern));
  if (useless !== undefined) {
    throw new OptionError(FACTORY, "onEvent", `no event matches "${useless}"; ${NO_PATTERN}`);
  }
  return findCallbackIn(onEvent);
}

const MIB = 1024 * 1024;

/** The options with all defaults filled in. */
export type ReceiverConfig = ReturnType<typeof resolveOptions>;
