import type { DeliveryResponse } from "../receiver/delivery.js";
import type { ReceiverOptions } from "../receiver/options.js";
import { createReceiver, type Receiver } from "../receiver/receiver.js";
import { memoryStore } from "../stores/memory.js";
import { createManualClock, type ManualClock } from "./manual-clock.js";
import { signedDelivery } from "./signed-delivery.js";

type OrUndefined<Options> = { [Option in keyof Options]?: Options[Option] | undefined };
type OtherOptions = Omit<ReceiverOptions, "secrets" | "clock">;

/** The options of `createReceiver`, of which none has to be given. */
export interface TestReceiverOptions extends OrUndefined<OtherOptions> {
  /** Deliveries are signed with it, or with the first of several. @default "whsec_test" */
  secrets?: string | readonly string[] | undefined;
  /** @default a new one that stands at the current time */
  clock?: ManualClock | undefined;
}

/** A started receiver and what a test does with it. */
export interface TestReceiver {
  /** Started. */
  readonly receiver: Receiver;
  /** The receiver's clock: it stands still, so a retry comes when the test says `await clock.advance(10_000)`. */
  readonly clock: ManualClock;
  /** What `deliver` signs with. */
  readonly secret: string;
  /**
   * Signs the event, or the text or bytes as they are, and has the receiver answer it. A handler runs after that: wait
   * for it with `waitForEvent(receiver, event.id)`.
   *
   * @param signing to sign otherwise than is right: `secret`, and `now` (milliseconds)
   */
  deliver(
    event: object | string | Uint8Array,
    signing?: { secret?: string | undefined; now?: number | undefined },
  ): Promise<DeliveryResponse>;
  /** Closes the receiver, without grace for callbacks that still run: for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * A started receiver for a test of your `onSignal` (or `onTest`): on a memory store and a manual clock, silent, with a
 * secret that it knows. Any option of `createReceiver` can be given instead.
 *
 * @throws SignalboxError `option_unknown`, `option_invalid`, `secret_invalid`, and what the store's `open` throws
 * @example
 * const { deliver, receiver } = await testReceiver({ onSignal });
 * const event = signalEvent("price_increased");
 * await deliver(event);
 * await waitForEvent(receiver, event.id);
 */
export async function testReceiver(options: TestReceiverOptions = {}): Promise<TestReceiver> {
  const { secrets = "whsec_test", clock = createManualClock(), ...others } = options;
  const secret = typeof secrets === "string" ? secrets : (secrets[0] ?? "");
  const receiver = createReceiver({
    ...others,
    secrets,
    clock,
    store: others.store ?? memoryStore(),
    onSignal: others.onSignal ?? (() => undefined),
    logger: others.logger ?? false,
  });
  await receiver.start();
  return {
    receiver,
    clock,
    secret,
    deliver(event, signing = {}) {
      const signed = signedDelivery(event, { secret: signing.secret ?? secret, now: signing.now ?? clock.now() });
      return receiver.handle({ method: "POST", ...signed });
    },
    [Symbol.asyncDispose]: () => receiver.close({ graceMs: 0 }),
  };
}
