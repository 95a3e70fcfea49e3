import type { ServerResponse } from "node:http";
import { ignore } from "../../base/errors.js";
import type { Clock, ClockTimer } from "../../base/time/clock.js";
import { createLiveStreams } from "../parts/page-server.js";
import { overviewOf, type Titles } from "./answers.js";
import type { PageInbox } from "./page-inbox.js";

/** After this time a stream ends. The browser connects again, and is authorised again. */
const STREAM_MS = 5 * 60_000;
/** How often the inbox is read while a page listens: another process may change it. */
const POLL_MS = 2000;
/** The least time between two reads of the inbox, however much happens. */
const THROTTLE_MS = 500;
/** Reading takes at most one part in so many of the time, however large the inbox is. */
const REST = 20;

const TYPE = "text/event-stream; charset=utf-8";
/** A comment shows that the connection lives. */
const STILL_HERE = ": still here\n\n";

export interface LiveConfig {
  inbox: PageInbox;
  clock: Clock;
  report: (error: unknown, text: string) => void;
  /** Calls back when something happened to an event. @returns a function that ends this */
  onChange: (listener: () => void) => () => void;
  closing: AbortSignal;
}

/**
 * Tells listening pages what has changed. While no page listens, it has no timer and no listener.
 */
export function createLive(
  { inbox, clock, report, onChange, closing }: LiveConfig,
  titlesOf: Titles,
) {
  /** Each knows the revision that its client has seen. */
  const streams = createLiveStreams(
    0,
    () => {
      stopWatching = onChange(nudge);
      closing.addEventListener("abort", streams.endAll);
    },
    () => {
      stopWatching();
      closing.removeEventListener("abort", streams.endAll);
      timer?.cancel();
      timer = null;
      nextReadAt = Infinity;
    },
  );
  // Another process behind the same address counts too, and a page that is connected to it must not
  // see an old number again.
  let revision = clock.now();
  let seen = "";
  let timer: ClockTimer | null = null;
  let nextReadAt = Infinity;
  /** The earliest time of the next read. */
  let restUntil = 0;
  let isReading = false;
  let stopWatching = ignore;

  function nudge(): void {
    revision += 1;
    if (streams.size > 0 && !isReading) readAt(restUntil);
  }

  function readAt(time: number): void {
    if (nextReadAt <= time) return;
    timer?.cancel();
    nextReadAt = time;
    timer = clock.setTimeout(() => void read(), Math.max(0, time - clock.elapsed()));
  }

  async function read(): Promise<void> {
    nextReadAt = Infinity;
    isReading = true;
    const startedAt = clock.elapsed();
    let current = revision;
    let message = STILL_HERE;
    try {
      const overview = await overviewOf(inbox, revision, clock.now(), titlesOf);
      const { counts, paused, failures, refusals, newest, endpoints } = overview;
      const pauses = endpoints.map(({ facts }) => [facts.pause, facts.hasReceiver]);
      const found = JSON.stringify([counts, paused, pauses, failures, refusals.byCode, newest]);
      if (found !== seen) {
        seen = found;
        current = revision += 1;
      }
      message = `event: overview\ndata: ${JSON.stringify({ ...overview, revision: current })}\n\n`;
    } catch (error) {
      if (!closing.aborted) report(error, "the inbox page could not read the inbox");
    }
    isReading = false;
    streams.write((last) => ({ text: last === current ? STILL_HERE : message, seen: current }));
    const now = clock.elapsed();
    const restMs = REST * (now - startedAt);
    restUntil = now + Math.max(THROTTLE_MS, restMs);
    if (streams.size > 0)
      readAt(revision === current ? now + Math.max(POLL_MS, restMs) : restUntil);
  }

  return {
    /** Sends messages until the client goes, the time is over, or the receiver closes. */
    stream(response: ServerResponse, headers: Readonly<Record<string, string>>): void {
      // The client may have gone while it was authorised. Its "close" would not come any more.
      if (response.destroyed) return;
      const lifetime = clock.setTimeout(() => streams.end(response), STREAM_MS);
      response.on("close", () => lifetime.cancel());
      streams.open(response, { ...headers, "Content-Type": TYPE }, "retry: 2000\n\n");
      if (closing.aborted) streams.end(response);
      else if (!isReading) readAt(restUntil);
    },
    /** Something has changed. */
    nudge,
    revision: (): number => revision,
  };
}
