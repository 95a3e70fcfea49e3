import type { ServerResponse } from "node:http";
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
  const listening = new Set<ServerResponse>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let told: ChangeMessage = { now: 0, hasChanged: false };
  let written: number | undefined = 0;
  // Whatever changes in the emulator is written to a row.
  const countWritten = database.prepare<[], number>("SELECT total_changes()").pluck();
  const messageOf = (message: ChangeMessage): string => `${JSON.stringify(message)}\n`;

  function look(): void {
    const now = clock.now();
    const count = countWritten.get();
    const hasChanged = count !== written;
    if (!hasChanged && now - told.now < TIME_MS) return;
    written = count;
    told = { now, hasChanged };
    for (const response of listening) {
      // Its client does not read. It connects again, and then loads everything.
      if (response.writableNeedDrain) response.destroy();
      else response.write(messageOf(told));
    }
  }

  return {
    /** Sends a message now, and further ones until the client goes or the emulator closes. */
    send(response: ServerResponse): void {
      response.on("error", () => response.destroy());
      // The database is closed next.
      if (isClosed) return void response.writeHead(503).end();
      response.writeHead(200, {
        "Content-Type": "application/x-ndjson; charset=utf-8",
        "Cache-Control": "no-store, no-transform",
        "X-Content-Type-Options": "nosniff",
      });
      response.write(messageOf({ now: clock.now(), hasChanged: true }));
      listening.add(response);
      if (timer === undefined) {
        // What this message tells is not told again.
        told = { now: clock.now(), hasChanged: true };
        written = countWritten.get();
        timer = setInterval(look, LOOK_MS).unref();
      }
      response.on("close", () => {
        listening.delete(response);
        if (listening.size === 0) stop();
      });
    },
    close(): void {
      isClosed = true;
      for (const response of listening) response.end();
      stop();
    },
  };

  function stop(): void {
    clearInterval(timer);
    timer = undefined;
  }
}
