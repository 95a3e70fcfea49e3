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
} from "../../../src/index.js";
import { memoryStore } from "../../../src/stores/memory.js";
import { createManualClock, signalEvent, signedDelivery, type ManualClock } from "../../../src/testing/index.js";
import { until } from "../until.js";
import { T0 } from "./new-event.js";

export const SECRET = "whsec_unit";

/** One call of `onSignal`, for the test to end. */
export interface Call {
  signal: Signal;
  handoff: Handoff;
  resolve(): void;
  reject(error?: unknown): void;
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
  /** One signed delivery; an event, or bytes as they are. */
  deliver(event?: SignalEvent | object | Uint8Array): Promise<DeliveryResponse>;
  deliverMany(count: number): Promise<[SignalEvent, ...SignalEvent[]]>;
  /** Delivers new signals, and waits until the callback of each has begun. */
  begin(count: number): Promise<[SignalEvent, ...SignalEvent[]]>;
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

  const deliver: Rig["deliver"] = async (event = signalEvent()) => {
    const { headers, body } = signedDelivery(event, { secret: SECRET, now: clock.now() });
    return receiver.handle({ method: "POST", headers, body });
  };
  const deliverMany: Rig["deliverMany"] = async (count) => {
    const events = Array.from({ length: count }, () => signalEvent()) as [SignalEvent];
    const answers = await Promise.all(events.map((event) => deliver(event)));
    const refused = answers.find(({ status }) => status !== 200);
    if (refused !== undefined) throw new Error(`a delivery was refused: ${refused.body}`);
    return events;
  };
  return {
    receiver,
    clock,
    store,
    calls,
    seen,
    namesSeen: () => seen.map(({ name }) => name),
    deliver,
    deliverMany,
    async begin(count) {
      const before = calls.length;
      const events = await deliverMany(count);
      await until(() => calls.length === before + count);
      return events;
    },
    entries: () => receiver.inbox.list({ limit: 10_000 }),
    entry: (eventId) => receiver.inbox.get(eventId),
  };
}
