import type { ServerResponse } from "node:http";
import { ignore } from "../base/errors.js";

/**
 * The open streams of a live channel. Both pages have one: the inbox page sends server-sent events,
 * the dashboard lines of JSON. `page/parts/follow-live.ts` reads both.
 */
export interface LiveStreams<Seen> {
  readonly size: number;
  /** Answers with a stream. It stays open until the client goes or the server ends it. */
  open(response: ServerResponse, headers: Readonly<Record<string, string>>, hello: string): void;
  /** Writes to each stream what its client has not seen yet; null: nothing. */
  write(messageAfter: (seen: Seen) => { text: string; seen: Seen } | null): void;
  end(response: ServerResponse): void;
  endAll(): void;
}

/**
 * @param nothing what the client of a new stream has seen
 * @param onFirst called when the first stream opens
 * @param onLast called when the last stream has closed
 */
export function createLiveStreams<Seen>(
  nothing: Seen,
  onFirst: () => void,
  onLast: () => void,
): LiveStreams<Seen> {
  /** The open streams, each with what its client has seen. */
  const streams = new Map<ServerResponse, Seen>();
  return {
    get size() {
      return streams.size;
    },
    open(response, headers, hello) {
      response.on("error", ignore);
      response.writeHead(200, { ...headers, ...STREAM_HEADERS });
      attempt(response, () => response.write(hello));
      response.on("close", () => {
        streams.delete(response);
        if (streams.size === 0) onLast();
      });
      if (streams.size === 0) onFirst();
      streams.set(response, nothing);
    },
    write(messageAfter) {
      for (const [response, seen] of streams) {
        // A client that does not read gets nothing more until it does.
        if (response.writableNeedDrain) continue;
        const message = messageAfter(seen);
        if (message === null) continue;
        streams.set(response, message.seen);
        attempt(response, () => response.write(message.text));
      }
    },
    end,
    endAll: () => streams.forEach((_seen, response) => end(response)),
  };
}

/**
 * `no-transform`: a middleware or proxy that compresses would hold messages back. The last header
 * tells it to nginx.
 */
const STREAM_HEADERS = {
  "Cache-Control": "no-store, no-transform",
  "X-Content-Type-Options": "nosniff",
  "X-Accel-Buffering": "no",
};

/** A client that does not read would keep an ended stream open. */
function end(response: ServerResponse): void {
  if (response.writableNeedDrain) response.destroy();
  else attempt(response, () => response.end());
}

/** The hooks of the application on the response may throw. */
function attempt(response: ServerResponse, act: () => void): void {
  try {
    act();
  } catch {
    response.destroy();
  }
}
