import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "pino";
import { z } from "zod";
import { checkOptions } from "../../../base/options/option-error.js";
import { clockOption, functionOption, objectOption } from "../../../base/options/option-schemas.js";
import { systemClock, type Clock } from "../../../base/time/clock.js";
import { SCOPES } from "../../contract/access.js";
import { type Scope, scopeSchema, type Tier, tierSchema } from "../../contract/access.js";
import { dateTimeSchema } from "../../contract/shared-schemas.js";
import { type AssumptionOptions, assumptionsSchema } from "./assumption-options.js";
import type { EmulatorEvent } from "./events.js";
import { systemRandom, type RandomSource } from "./random-source.js";

/** For the errors of its options. */
export const FACTORY = { name: "createEmulator", page: "docs/emulator.md" };

/** The options of `createEmulator`. A value of `undefined` means absent. */
export interface EmulatorOptions {
  /** The port to listen on; 0 takes a free port. @default 4010 */
  port?: number | undefined;
  /** The address to listen on. @default "127.0.0.1" */
  host?: string | undefined;
  /**
   * A file that keeps the state; created when it is missing. @default in memory, lost when the
   * process ends
   */
  db?: string | undefined;
  /**
   * The same seed gives the same data. A file keeps its seed; giving another seed for it is an
   * error. @default 1
   */
  seed?: number | undefined;
  /**
   * The start of a new clock, ISO 8601. The clock of an existing file continues, but never before
   * `startAt`. @default now
   */
  startAt?: string | undefined;
  /**
   * The accounts of a new database, each with a key. With an existing file, only a reset creates
   * them. Without this option, a reset creates the accounts that the database was first created
   * with.
   *
   * @default none
   */
  accounts?: readonly AccountOptions[] | undefined;
  /**
   * How the emulator behaves where the service's document does not define it. docs/emulator.md
   * lists all assumptions.
   */
  assumptions?: AssumptionOptions | undefined;
  /**
   * The only certificate authorities (PEM) to trust for webhook endpoints. @default those that Node
   * trusts
   */
  ca?: string | undefined;
  /** The clock that the emulator's clock follows; for tests. @default the system's clock */
  clock?: Clock | undefined;
  /** The source of ids, keys and secrets; for tests. @default the system's random source */
  random?: RandomSource | undefined;
  /**
   * Opens the control API to callers on other machines, for example from outside of a container.
   * With this option every request needs this token (`Authorization: Bearer <token>`), including
   * requests from this machine. 16 characters or more.
   *
   * @default none: the control API answers only callers on this machine, and they need no token
   */
  controlToken?: string | undefined;
  /**
   * Shows the inbox of the receiver beside the dashboard: served below `/_emulator/inbox/` to
   * whoever can call the control API. For example `inboxPage(receiver, { authorize: "loopback" })`
   * of `signalbox/inbox-page`.
   *
   * @default none
   */
  inboxPage?: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  /** Called with each event as it happens. Errors that it throws are logged. @default none */
  onEvent?: ((event: EmulatorEvent) => void) | undefined;
  /** A pino logger, or `false` for no log. @default false */
  logger?: Logger | false | undefined;
}

/** An account of a new database. */
export interface AccountOptions {
  name: string;
  tier: Tier;
  /** The API key, 16 characters or more. */
  key: string;
  /** @default all */
  scopes?: readonly Scope[] | undefined;
}

/** The options with every default. */
export type EmulatorConfig = ReturnType<typeof resolveEmulatorOptions>;

/** The characters of a token in RFC 6750. */
const tokenSchema = z
  .string()
  .regex(/^[\w.~+/-]{16,200}=*$/, "expected 16 to 200 letters, digits or _ . ~ + / -");

const accountSchema = z.strictObject({
  name: z.string().min(1).max(200),
  tier: tierSchema,
  key: z
    .string()
    .regex(/^(?!sbs_)[\w.~+/-]{16,200}$/, "expected 16 to 200 characters of an API key"),
  scopes: z.array(scopeSchema).default([...SCOPES]),
});

const optionsSchema = z.strictObject({
  port: z.int().min(0).max(65_535).default(4010),
  host: z.string().min(1).default("127.0.0.1"),
  db: z.string().min(1).optional(),
  seed: z.int().min(0).optional(),
  startAt: dateTimeSchema.optional(),
  accounts: z
    .array(accountSchema)
    .refine(
      (accounts) => new Set(accounts.map(({ key }) => key)).size === accounts.length,
      "two accounts have the same key",
    )
    .default([]),
  assumptions: assumptionsSchema.prefault({}),
  ca: z.string().min(1).optional(),
  clock: clockOption.default(systemClock),
  random: objectOption<RandomSource>("a source of random bytes", "bytes").default(systemRandom),
  controlToken: tokenSchema.optional(),
  inboxPage:
    functionOption<(request: IncomingMessage, response: ServerResponse) => void>().optional(),
  onEvent: functionOption<(event: EmulatorEvent) => void>().optional(),
  logger: z
    .union([z.literal(false), objectOption<Logger>("a pino logger or false", "info", "child")])
    .default(false),
});

/** @throws SignalboxError `option_unknown`, `option_invalid` */
export function resolveEmulatorOptions(options: EmulatorOptions) {
  const {
    db = null,
    seed = null,
    startAt,
    ...rest
  } = checkOptions(FACTORY, optionsSchema, options);
  return { ...rest, db, seed, startAtMs: startAt === undefined ? null : Date.parse(startAt) };
}
