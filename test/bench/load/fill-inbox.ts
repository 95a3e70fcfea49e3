// A process that fills an inbox with events that were handled in the last days, through the store's
// own port.
import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { join } from "node:path";
import { sqliteStore } from "signalbox/stores/sqlite";
import { createManualClock } from "signalbox/testing";
import { makeEvent } from "./make-event.js";
import { answerQuestions } from "../processes/questions.js";

export interface FillSpec {
  folder: string;
  /** The number of the first event, see `scatteredEventIds`. */
  from: number;
  events: number;
}

const ENDPOINT = "default";
const BATCH = 2000;
/** Younger than the events whose payload retention drops. */
const OLDEST_MS = 5 * 86_400_000;

answerQuestions(
  new Map([
    [
      "fill",
      async ({ folder, from, events }: FillSpec): Promise<number> => {
        const path = join(folder, "inbox.db");
        const store = sqliteStore(path);
        // A batch of events was received and handled in each moment of the last days.
        const now = Date.now();
        const clock = createManualClock(now);
        await store.open({ endpoint: ENDPOINT, clock });
        const end = from + events;
        for (let first = from; first < end; first += BATCH) {
          const numbers = Array.from(
            { length: Math.min(BATCH, end - first) },
            (_, index) => first + index,
          );
          clock.setNow(now - Math.floor(Math.random() * OLDEST_MS));
          const accepts = numbers.map((n) => toDone(n, clock.now()));
          await store.commit({ endpoint: ENDPOINT, accepts, settlements: [], claim: null });
        }
        await store.close(ENDPOINT);
        return statSync(path).size;
      },
    ],
  ]),
);

function toDone(
  n: number,
  receivedAt: number,
): Parameters<ReturnType<typeof sqliteStore>["commit"]>[0]["accepts"][number] {
  const event = makeEvent(n);
  const body = Buffer.from(JSON.stringify(event));
  return {
    eventId: event.id,
    type: event.type,
    state: "done",
    leaseMs: null,
    received: { at: receivedAt, headers: { "content-type": "application/json" } },
    bodyHash: createHash("sha256").update(body).digest(),
    body,
    reason: null,
    subtype: null,
    subject: null,
    sender: null,
    contentKey: null,
    possiblyRepeated: false,
  };
}
