/**
 * How the emulator behaves where the service's document says "not shown": the one place for it. Each entry has its
 * default, why it is so, and is switched by `createEmulator({ assumptions: { name: value } })` or, on the command line,
 * `signalbox emulator --assume name=value`.
 */
export interface Assumption<Value> {
  default: Value;
  /** What the document leaves open. */
  about: string;
  reason: string;
}

const assume = <Value>(assumption: Assumption<Value>): Assumption<Value> => assumption;

export const ASSUMPTIONS = {
  deliveryTimeoutMs: assume<number>({
    default: 10_000,
    about: "How long a receiver may take to answer a delivery.",
    reason: "Senders of webhooks commonly wait between 5 and 30 seconds.",
  }),
} as const satisfies Record<string, Assumption<unknown>>;

/** The value in force of each assumption. */
export type Assumptions = { [Name in keyof typeof ASSUMPTIONS]: (typeof ASSUMPTIONS)[Name]["default"] };
