import { generateKeyPairSync } from "node:crypto";
import type { DeliveryResponse } from "../receiver/delivery.js";
import type { ReceiverOptions, SenderReceiverOptions } from "../receiver/options.js";
import { createReceiver, type Receiver } from "../receiver/receiver.js";
import type { SecretsOption } from "../receiver/secrets/secrets.js";
import type { AnySender } from "../senders/engine/sender.js";
import { memoryStore } from "../stores/memory.js";
import { createManualClock, type ManualClock } from "./manual-clock.js";
import { signedDelivery, type SignedDeliveryOptions } from "./signed-delivery.js";

type OrUndefined<Options> = { [Option in keyof Options]?: Options[Option] | undefined };
type OtherOptions = Omit<ReceiverOptions, "secrets" | "clock">;

/** The options of `createReceiver`. All are optional. */
export interface TestReceiverOptions extends OrUndefined<OtherOptions>, TestOptions {}

/** The options of `createReceiver` with a sender. All but `sender` are optional. */
export interface TestSenderReceiverOptions<Events extends object>
  extends
    OrUndefined<Omit<SenderReceiverOptions<Events>, "secrets" | "clock" | "sender">>,
    TestOptions {
  sender: SenderReceiverOptions<Events>["sender"];
}

interface TestOptions {
  /**
   * `deliver` signs with the first secret. For a sender with public keys these are public, and each
   * `deliver` needs the private key as its `secret`. @default "whsec_test", or for a sender that
   * cannot have it, a secret or a key pair that it can. With a function, for the option `tenant`,
   * each `deliver` needs its `secret`
   */
  secrets?: SecretsOption;
  /** @default a new manual clock, set to the current time */
  clock?: ManualClock | undefined;
}

/** A started receiver, for a test. */
export interface TestReceiver {
  readonly receiver: Receiver;
  /**
   * The receiver's clock. It stands still, so a retry happens when the test calls `await
   * clock.advance(10_000)`.
   */
  readonly clock: ManualClock;
  /** The secret that `deliver` signs with. */
  readonly secret: string;
  /**
   * Signs an event, a text or bytes, and returns the receiver's answer. Callbacks run after the
   * answer: wait for them with `waitForEvent(receiver, event.id)`.
   *
   * @param signing the sender's `headers` and others, the `url` for the option `tenant`, or another
   * `secret` or `now` in milliseconds for a signature that is not valid
   */
  deliver(
    event: object | string | Uint8Array,
    signing?: Partial<Pick<SignedDeliveryOptions, "secret" | "now" | "headers">> & { url?: string },
  ): Promise<DeliveryResponse>;
  /** Closes the receiver without a wait, for `await using`. Running callbacks are aborted. */
  [Symbol.asyncDispose](): Promise<void>;
}

// Before the overload without a sender, which any object fits: after that one the compiler gives
// the parameters of `onEvent` the type `any`.
/**
 * Starts a receiver with a sender, for a test of your `onEvent`. The rest is as without a sender:
 * see the other overload.
 *
 * @throws SignalboxError `option_unknown`, `option_invalid`, `secret_invalid`, and what the store's
 * `open` throws
 * @example
 * const { deliver } = await testReceiver({ sender: stripe(), onEvent });
 * await deliver({ id: "evt_1", type: "invoice.paid", data: { object: { id: "in_1" } } });
 */
export async function testReceiver<Events extends object>(
  options: TestSenderReceiverOptions<Events>,
): Promise<TestReceiver>;
/**
 * Starts a receiver for a test of your `onSignal` or `onTest`, with a memory store, a manual clock
 * and a test secret, and without log lines. Any option of `createReceiver` can replace these.
 *
 * @throws SignalboxError `option_unknown`, `option_invalid`, `secret_invalid`, and what the store's
 * `open` throws
 * @example
 * const { deliver, receiver } = await testReceiver({ onSignal });
 * const event = signalEvent("price_increased");
 * await deliver(event);
 * await waitForEvent(receiver, event.id);
 */
export async function testReceiver(options?: TestReceiverOptions): Promise<TestReceiver>;
export async function testReceiver<Events extends object>(
  options: TestReceiverOptions | TestSenderReceiverOptions<Events> = {},
): Promise<TestReceiver> {
  const { clock = createManualClock(), ...others } = options;
  const { sender, onSignal, onEvent } = others as Partial<
    ReceiverOptions & SenderReceiverOptions<Events>
  >;
  const made = options.secrets === undefined ? madeFor(sender) : null;
  const secrets = made?.secrets ?? options.secrets ?? "";
  const callback = {
    [sender === undefined ? "onSignal" : "onEvent"]: onSignal ?? onEvent ?? (() => undefined),
  };
  const secret = made?.secret ?? [secrets].flat().find((each) => typeof each === "string") ?? "";
  const receiver = createReceiver({
    ...others,
    ...callback,
    secrets,
    clock,
    store: others.store ?? memoryStore(),
    logger: others.logger ?? false,
  } as ReceiverOptions);
  await receiver.start();
  return {
    receiver,
    clock,
    secret,
    deliver(event, signing = {}) {
      const given = {
        secret: signing.secret ?? secret,
        now: signing.now ?? clock.now(),
        headers: signing.headers,
      };
      const signed = signedDelivery(event, { sender, ...given });
      return receiver.handle({ method: "POST", url: signing.url, ...signed });
    },
    [Symbol.asyncDispose]: () => receiver.close({ graceMs: 0 }),
  };
}

/** What a sender takes: any text, base64 and hex alike, or a password; or else a pair of keys. */
const TEXTS = ["whsec_test", "7e57".repeat(16), "user:password"];
const KEYS = [
  ["ed25519"],
  ["ec", { namedCurve: "P-256" }],
  ["rsa", { modulusLength: 2048 }],
] as const;

/** The secret that the receiver has, and the one that `deliver` signs with. */
function madeFor(sender: AnySender | undefined): { secrets: string; secret: string } {
  const fits = (secret: string): boolean =>
    sender === undefined || sender.secretProblem(secret) === null;
  const text = TEXTS.find(fits);
  if (text !== undefined) return { secrets: text, secret: text };
  for (const [type, options] of KEYS) {
    const { publicKey, privateKey } = generateKeyPairSync(
      type as "ec",
      options as { namedCurve: string },
    );
    const secrets = String(publicKey.export({ format: "pem", type: "spki" }));
    if (fits(secrets))
      return { secrets, secret: String(privateKey.export({ format: "pem", type: "pkcs8" })) };
  }
  return { secrets: "", secret: "" };
}
