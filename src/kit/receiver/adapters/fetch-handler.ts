import type { Receiver } from "../receiver.js";
import { assertReceiver } from "./listener.js";

/**
 * Makes a function that answers every `Request` with a `Response`: for Hono, Next.js, Bun, Deno and
 * all others that have these two.
 *
 * Nothing may read the request's body before it.
 *
 * @throws SignalboxError `option_invalid`
 * @example
 * const receive = fetchHandler(receiver);
 * app.all("/webhooks/signals", (context) => receive(context.req.raw));
 */
export function fetchHandler(receiver: Receiver): (request: Request) => Promise<Response> {
  assertReceiver(receiver, "fetchHandler");
  return async (request) => {
    const { method, url, headers, signal } = request;
    const answer = await receiver.handle({ method, url, headers, signal, body: chunksOf(request) });
    // The client is gone, so nothing reads this answer.
    if (answer === null) return new Response(null, { status: 499 });
    return new Response(answer.body, { status: answer.status, headers: answer.headers });
  };
}

function chunksOf(request: Request): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      if (request.bodyUsed) throw new TypeError("The body was read before.");
      const reader = request.body?.getReader();
      return {
        next: () => reader?.read() ?? Promise.resolve(END),
        // No `cancel`: on several servers it closes the connection before the answer is sent. The
        // server handles the rest.
        return() {
          reader?.releaseLock();
          return Promise.resolve(END);
        },
      };
    },
  };
}

const END = { done: true, value: undefined } as const;
