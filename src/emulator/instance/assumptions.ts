import { LIMITS } from "../../api/limits.js";
import { type AllowedValues, listOfSeconds, oneOf, TRUE_OR_FALSE, wholeNumber } from "./allowed-values.js";

/** A behaviour that the service's document does not define and that a user can change. */
export interface Assumption<Value> {
  default: Value;
  allowed: AllowedValues<Value>;
  about: string;
  /** Why the default is as it is. */
  reason: string;
}

const assume = <Value>(assumption: Assumption<Value>): Assumption<Value> => assumption;

/** A signal is sent within a day, so a longer wait between two attempts has no effect. */
const DAY_SECONDS = 86_400;
const MOST_INVESTIGATION_SECONDS = 30 * DAY_SECONDS;

/**
 * The behaviours that the service's document does not define and that a user could want to test with another value. Change one
 * with `createEmulator({ assumptions: { name: value } })` or `signalbox emulator --assume name=value`.
 * `docs/emulator.md` also lists those that cannot be changed.
 */
export const ASSUMPTIONS = {
  deliveryTimeoutMs: assume<number>({
    default: 10_000,
    allowed: wholeNumber(1, 600_000),
    about:
      "How long, in real time, the emulator waits for the answer to a delivery. While the clock is advanced, it waits 500 ms for an endpoint that timed out before.",
    reason: "Senders of webhooks commonly wait between 5 and 30 seconds.",
  }),
  investigationSeconds: assume<number>({
    default: 340,
    allowed: wholeNumber(0, MOST_INVESTIGATION_SECONDS),
    about:
      "How long an investigation takes. Of this time, 6 % are in the stage queued, 70 % in investigating and 24 % in generating_report.",
    reason: "A client that polls once a minute sees every stage.",
  }),
  allowLoopbackHttp: assume<boolean>({
    default: false,
    allowed: TRUE_OR_FALSE,
    about: "Whether endpoints can be on loopback addresses of this machine, also with plain HTTP.",
    reason: "The document requires HTTPS, but a receiver under development usually listens on plain HTTP.",
  }),
  retrySeconds: assume<string>({
    default: "10,60,300,1800,7200,21600,43200",
    allowed: listOfSeconds(DAY_SECONDS),
    about:
      "The seconds to wait after the first failed attempt, after the second, and so on. The end of the list ends the attempts.",
    reason:
      "The first retries are quick, the later ones slow, and all are within the 24 hours in which a signal can be sent.",
  }),
  deliveriesInFlight: assume<number>({
    default: 4,
    allowed: wholeNumber(1, 100),
    about: "How many deliveries are sent to one registration at the same time.",
    reason: "One slow answer does not delay all other deliveries, and a small receiver is not overloaded.",
  }),
  pauseAfterFailures: assume<number>({
    default: 20,
    allowed: wholeNumber(1, 1_000_000),
    about: "The failure count at which an active registration is paused. Every 2xx answer sets the count to 0.",
    reason: "With the default of retrySeconds one event has 8 attempts, so it cannot pause a registration alone.",
  }),
  signatureClock: assume<"service" | "machine">({
    default: "service",
    allowed: oneOf("service", "machine"),
    about: "Whether the time in signatures is that of the emulator's clock or of the machine's clock.",
    reason: `All other times are by the emulator's clock. A receiver that uses the machine's clock refuses signatures that are off by more than ${LIMITS.signatureAgeSeconds} seconds.`,
  }),
  firstSignalId: assume<number>({
    default: 880_001,
    allowed: wholeNumber(1, 1_000_000_000),
    about: "The id of the first signal. Each later signal has the next number.",
    reason: "The document says only that the id is an integer.",
  }),
} as const satisfies Record<string, Assumption<unknown>>;

/** The value of each assumption. */
export type Assumptions = { [Name in keyof typeof ASSUMPTIONS]: (typeof ASSUMPTIONS)[Name]["default"] };
