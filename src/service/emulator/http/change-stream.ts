import type { ServerResponse } from "node:http";
import { createLiveStreams } from "../../../page/parts/page-server.js";
import type { EmulatorCore } from "../instance/core.js";

/** How soon a page hears of a change. More changes within this time are one message. */
const LOOK_MS = 300;
/** How often a page hears the time when nothing changes. */
const TIME_MS = 5000;

/**
 * Tells pages the time, and that something of the emulator has changed. While no page listens, it
 * does nothing.
 */
export type ChangeStream = ReturnType<typeof createChangeStream>;

/** A line of the stream, in JSON. */
export interface ChangeMessage {
  /** The emulator's time, in milliseconds since 1970. */
  now: number;
  hasChanged: boolean;
}

export function createChangeStream({ database, clock }: Pick<EmulatorCore, "database" | "clock">) {
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const stop = (): void => clearInterval(timer);
  const streams = createLiveStreams(
    { now: 0, written: -1 },
    () => (timer = setInterval(look, LOOK_MS).unref()),
    stop,
  );

  function look(): void {
    const now = clock.now();
    // Whatever changes in the emulator is written to a row.
    const written = database.value<number>("SELECT total_changes()") ?? 0;
    streams.write((seen) => {
      const hasChanged = written !== seen.written;
      if (!hasChanged && now - seen.now < TIME_MS) return null;
      const message: ChangeMessage = { now, hasChanged };
      return { text: `${JSON.stringify(message)}\n`, seen: { now, written } };
    });
  }

  return {
    /** Sends a message now, and further ones until the client goes or the emulator closes. */
    send(response: ServerResponse): void {
      // The database is closed next.
      if (isClosed) return void response.writeHead(503).end();
      streams.open(response, { "Content-Type": "application/x-ndjson; charset=utf-8" }, "");
      look();
    },
    close(): void {
      isClosed = true;
      streams.endAll();
      stop();
    },
  };
}
