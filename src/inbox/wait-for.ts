import { SignalboxError } from "../errors.js";
import type { EventState, StoredEvent } from "./store.js";

/** What `inbox.waitFor` waits for, and how long. */
export interface WaitForOptions {
  /** @default "done" */
  state?: Exclude<EventState, "leased"> | undefined;
  /**
   * Milliseconds of real time, whatever the receiver's clock: a manual one can be moved meanwhile. The default is less
   * than the 5 seconds after which most test runners give a test up. @default 4000
   */
  timeoutMs?: number | undefined;
}

/** Those who wait for events of one inbox. */
export interface Waiters {
  waitFor(eventId: string, options?: WaitForOptions): Promise<StoredEvent>;
  /** The event may be in another state now. */
  changed(eventId: string): void;
  /** Nothing changes any more: each looks a last time, and gives up. */
  close(): Promise<void>;
}

interface WaitersConfig {
  get(eventId: string): Promise<StoredEvent | undefined>;
  /** Milliseconds since 1970, by the receiver's clock. */
  now(): number;
}

/** One who waits. With `giveUp` it is the last look. */
type Look = (giveUp?: string) => Promise<void>;

const DEFAULT_TIMEOUT_MS = 4000;
/** What `setTimeout` can count. */
const MOST_TIMEOUT_MS = 2 ** 31 - 1;
/** For what others do to the inbox, the command line or another process: nobody tells of it. */
const LOOK_AGAIN_MS = 1000;

const WAITABLE: ReadonlySet<EventState> = new Set(["ready", "done", "dead", "quarantined"]);

export function createWaiters({ get, now }: WaitersConfig): Waiters {
  const looks = new Map<string, Set<Look>>();

  function waitFor(eventId: string, options: WaitForOptions = {}): Promise<StoredEvent> {
    const { state: wanted = "done", timeoutMs = DEFAULT_TIMEOUT_MS } = options;
    return new Promise((resolve, reject) => {
      const mistake = mistakeIn(eventId, wanted, timeoutMs);
      if (mistake !== null) return reject(mistake);
      const stop = (): void => {
        clearTimeout(deadline);
        clearInterval(lookingAgain);
        const others = looks.get(eventId);
        others?.delete(look);
        if (others?.size === 0) looks.delete(eventId);
      };
      const look: Look = async (giveUp) => {
        try {
          const entry = await get(eventId);
          if (entry?.state === wanted) resolve(entry);
          else if (entry !== undefined && !canBecome(entry.state, wanted)) reject(failed(entry, wanted, "", now()));
          else if (giveUp === undefined) return;
          else reject(entry === undefined ? unseen(eventId, giveUp) : failed(entry, wanted, giveUp, now()));
        } catch (error) {
          reject(error);
        }
        stop();
      };
      // Real timers that keep the process alive: whoever awaits this may have nothing else that does.
      const deadline = setTimeout(() => void look(`within ${timeoutMs} ms`), timeoutMs);
      const lookingAgain = setInterval(() => void look(), LOOK_AGAIN_MS);
      looks.set(eventId, (looks.get(eventId) ?? new Set()).add(look));
      void look();
    });
  }

  return {
    waitFor,
    changed(eventId) {
      const group = looks.get(eventId);
      if (group !== undefined) for (const look of group) void look();
    },
    async close() {
      const all = [...looks.values()].flatMap((group) => [...group]);
      await Promise.all(all.map((look) => look("before the receiver was closed")));
    },
  };
}

/** Whether it can come about without a person. */
function canBecome(state: EventState, wanted: EventState): boolean {
  return (state === "ready" || state === "leased") && wanted !== "quarantined";
}

/** Of a JavaScript caller, mostly. `setTimeout` takes what it cannot count for 1 ms. */
function mistakeIn(eventId: unknown, wanted: EventState, timeoutMs: number): SignalboxError | null {
  if (typeof eventId !== "string") {
    const what = `inbox.waitFor takes the id of an event, which is a string, not ${typeof eventId}.`;
    return new SignalboxError("option_invalid", what, "Pass event.id.");
  }
  if (!WAITABLE.has(wanted)) return invalid("state", "Wait for done, dead, ready or quarantined.");
  const isTime = typeof timeoutMs === "number" && timeoutMs >= 0 && timeoutMs <= MOST_TIMEOUT_MS;
  return isTime ? null : invalid("timeoutMs", `Give it milliseconds, from 0 to ${MOST_TIMEOUT_MS}.`);
}

function invalid(option: keyof WaitForOptions, help: string): SignalboxError {
  return new SignalboxError("option_invalid", `The option "${option}" of inbox.waitFor is invalid.`, help);
}

function unseen(eventId: string, giveUp: string): SignalboxError {
  const help = "Look at the answer to its delivery. What is quarantined may have another id: see inbox.list().";
  return new SignalboxError("wait_failed", `No event with the id ${eventId} was accepted ${giveUp}.`, help);
}

function failed(entry: StoredEvent, wanted: EventState, giveUp: string, now: number): SignalboxError {
  const { eventId, state, attempts, dueAt, lastError } = entry;
  const soFar = `${state} after ${attempts} ${attempts === 1 ? "attempt" : "attempts"}`;
  const due = state === "ready" && dueAt > now ? ` and due in ${dueAt - now} ms by the receiver's clock` : "";
  const error = lastError === null ? "" : `. Its last error: ${lastError}`;
  const what = giveUp === "" ? `is ${soFar}, and not ${wanted}` : `was not ${wanted} ${giveUp}: it is ${soFar}${due}`;
  return new SignalboxError("wait_failed", `The event ${eventId} ${what}${error}.`, HELP[state]);
}

const HELP: Readonly<Record<EventState, string>> = {
  ready: "It is handed off again when it is due; a manual clock has to be advanced until then.",
  leased: "Its callback did not come to its end: see what it waits for.",
  done: "",
  dead: "Mend the callback and replay it, or wait for the state dead.",
  quarantined: "The event could not be used, so it is handed to no callback.",
};
