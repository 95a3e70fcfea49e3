import { setTimeout as delay } from "node:timers/promises";
import { eventThat, isAcknowledged, send, type Answer } from "../faults/sender.js";
import type { Happening } from "./history.js";
import type { Machine } from "./machine.js";

/** A receiver that does not answer for so long has not acknowledged. */
const ANSWER_MS = 10_000;
const LONGEST_RETRY_MS = 8000;
/** The shares of events that a forged one goes with, and one that is sent to one machine alone. */
const FORGED = 0.02;
const ALONE = 0.25;
/** And of those whose callback completes them in the transaction of an effect. */
const WITH_EFFECT = 0.3;
/** And of those that have one of these keys. */
const WITH_KEY = 0.5;
const KEYS = 20;

export interface Sending {
  machines: readonly Machine[];
  note: (what: Happening) => void;
  random: () => number;
  /** The answers that were no 2xx, by their code. */
  refusals: Map<string, number>;
}

/**
 * Sends one event to two machines at once, and to any other as long as it is not acknowledged.
 * Sometimes another event goes with it to one of them: what that one loses, no other has.
 */
export async function sendToTwo(id: string, sending: Sending): Promise<void> {
  const { machines, note, random } = sending;
  const first = Math.floor(random() * machines.length);
  const second = (first + 1 + Math.floor(random() * (machines.length - 1))) % machines.length;
  const event = eventThat("fine", id, {
    callback: [...callbackOf(random()), random() < WITH_EFFECT],
    key: random() < WITH_KEY ? `key ${Math.floor(random() * KEYS)}` : null,
  });
  if (random() < FORGED)
    void post(machines[first] as Machine, { ...event, id: `${id}-forged` }, "whsec_guessed");
  const alone = { ...event, id: `${id}-alone` };
  const sends: [{ id: string }, number][] = [
    [event, first],
    [event, second],
  ];
  if (random() < ALONE) sends.push([alone, first]);
  for (const sent of new Set(sends.map(([each]) => each.id))) note({ say: "sent", id: sent });
  await Promise.all(sends.map(([each, index]) => sendUntilAcknowledged(each, index, sending)));
}

/** How long the callback takes, in milliseconds, and how often it fails. */
function callbackOf(draw: number): [durationMs: number, failures: number] {
  if (draw < 0.7) return [0, 0];
  if (draw < 0.85) return [300, 0];
  if (draw < 0.9) return [20, 1];
  return draw < 0.96 ? [2000, 0] : [2000, 1];
}

async function sendUntilAcknowledged(
  event: { id: string },
  first: number,
  sending: Sending,
): Promise<void> {
  const { machines, note, random, refusals } = sending;
  for (let index = first, waitMs = 100; ; index = Math.floor(random() * machines.length)) {
    const answer = await post(machines[index] as Machine, event);
    if (isAcknowledged(answer)) {
      note({ say: "acknowledged", id: event.id, duplicate: answer.body.includes("duplicate") });
      return;
    }
    const code = /"code":"(\w+)"/.exec(answer.body)?.[1] ?? "no answer";
    refusals.set(code, (refusals.get(code) ?? 0) + 1);
    await delay(waitMs * (0.5 + random()));
    waitMs = Math.min(2 * waitMs, LONGEST_RETRY_MS);
  }
}

async function post(machine: Machine, event: object, secret?: string): Promise<Answer> {
  const port = machine.port();
  const nothing = { status: 0, body: "" };
  if (port === null) return nothing;
  // Five minutes are allowed between the clocks of sender and receiver: that is another promise.
  const now = Date.now() + machine.clockAheadMs;
  return send(port, event, {
    now,
    timeoutMs: ANSWER_MS,
    ...(secret !== undefined && { secret }),
  }).catch(() => nothing);
}
