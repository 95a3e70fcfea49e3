import { onTestFinished } from "vitest";
import {
  createReceiver,
  type DeliveryResponse,
  type Handoff,
  type InboxEntry,
  type InboxStore,
  type Receiver,
  type ReceiverEventName,
  type ReceiverOptions,
  type Signal,
  type SignalEvent,
} from "../../../../src/kit/index.js";
import { memoryStore } from "../../../../src/kit/stores/memory.js";
import {
  createManualClock,
  signalEvent,
  signedDelivery,
  type ManualClock,
} from "../../../../src/kit/testing/index.js";
import { until } from "../../until.js";
import { T0 } from "./new-event.js";

export const SECRET = "whsec_unit";

/** One call of `onSignal`, for the test to end. */
export interface Call {
  signal: Signal;
  handoff: Handoff;
  resolve(): void;
  reject(error?: unknown): void;
}

interface SignedRequest {
  method: "POST";
  headers: Record<string, string>;
  body: Buffer;
}

export interface Rig {
  receiver: Receiver;
  clock: ManualClock;
  store: InboxStore;
  /** The calls of `onSignal`, unless the test brought its own. */
  calls: Call[];
  /** The events that the receiver emitted. */
  seen: { name: ReceiverEventName; [detail: string]: unknown }[];
  namesSeen(): ReceiverEventName[];
  /** A request, signed by the clock: an event, or bytes as they are. */
  signed(event?: object | Uint8Array, secret?: string): SignedRequest;
  /** One signed delivery; an event, or bytes as they are. */
  deliver(event?: SignalEvent | object | Uint8Array): Promise<DeliveryResponse>;
  deliverMany(count: number): Promise<[SignalEvent, ...SignalEvent[]]>;
  /** Delivers new signals, and waits until the callback of each has begun. */
  begin(count: number): Promise<[SignalEvent, ...SignalEvent[]]>;
  /** Waits until `onSignal` was called so often. */
  called(count: number): Promise<void>;
  /** Lets all callbacks fail that run. */
  failAll(): void;
  /** Waits until the receiver has emitted such an event. */
  saw(name: ReceiverEventName): Promise<void>;
  entries(): Promise<InboxEntry[]>;
  entry(eventId: string): Promise<InboxEntry | undefined>;
}

const NAMES: readonly ReceiverEventName[] = [
  "accepted",
  "duplicate",
  "conflict",
  "quarantined",
  "rejected",
  "verified",
  "handedOff",
  "handoffFailed",
  "dead",
];

/** The status of an answer, and the code of a refusal. */
export function codeOf(answer: Pick<DeliveryResponse, "status" | "body"> | null): string {
  if (answer === null) return "null";
  const { error } = JSON.parse(answer.body === "" ? "{}" : answer.body) as {
    error?: { code: string };
  };
  return `${answer.status} ${error?.code ?? ""}`.trim();
}

/** A started receiver on a manual clock and, if nothing else is said, a memory store. */
export async function startRig(options: Partial<ReceiverOptions> = {}): Promise<Rig> {
  const clock = (options.clock as ManualClock | undefined) ?? createManualClock(T0);
  const store = options.store ?? memoryStore();
  const calls: Call[] = [];
  const seen: Rig["seen"] = [];
  const receiver = createReceiver({
    secrets: SECRET,
    logger: false,
    onSignal: (signal, handoff) =>
      new Promise((resolve, reject) => {
        calls.push({
          signal,
          handoff,
          resolve: () => resolve(undefined),
          reject: (error = new Error("down")) => reject(error),
        });
      }),
    ...options,
    store,
    clock,
  });
  for (const name of NAMES) receiver.on(name, (event) => seen.push({ ...event, name }));
  // A test that filled the store, or plays a receiver that died, has it open still.
  await store.close("default");
  await receiver.start();
  onTestFinished(() => receiver.close({ graceMs: 0 }));

  const signed: Rig["signed"] = (event = signalEvent(), secret = SECRET) => ({
    method: "POST",
    ...signedDelivery(event, { secret, now: clock.now() }),
  });
  const deliver: Rig["deliver"] = (event) => receiver.handle(signed(event));
  const deliverMany: Rig["deliverMany"] = async (count) => {
    const events = Array.from({ length: count }, () => signalEvent()) as [SignalEvent];
    const answers = await Promise.all(events.map((event) => deliver(event)));
    const refused = answers.find(({ status }) => status !== 200);
    if (refused !== undefined) throw new Error(`a delivery was refused: ${refused.body}`);
    return events;
  };
  const called: Rig["called"] = (count) => until(() => calls.length === count, `call ${count}`);
  return {
    receiver,
    clock,
    store,
    calls,
    seen,
    namesSeen: () => seen.map(({ name }) => name),
    signed,
    deliver,
    deliverMany,
    async begin(count) {
      const before = calls.length;
      const events = await deliverMany(count);
      await called(before + count);
      return events;
    },
    called,
    failAll() {
      for (const call of calls) call.reject();
    },
    saw: (name) => until(() => seen.some((event) => event.name === name)),
    entries: () => receiver.inbox.list({ limit: 10_000 }),
    entry: (eventId) => receiver.inbox.get(eventId),
  };
}
