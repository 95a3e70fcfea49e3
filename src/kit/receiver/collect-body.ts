import { Readable } from "node:stream";
import getRawBody from "raw-body";
import { ignore } from "../../base/errors.js";
import { headerValue } from "../senders/engine/headers.js";
import { capturedRawBody } from "./capture-raw-body.js";
import type { DeliveryRequest } from "./delivery.js";
import type { ReceiverConfig } from "./options.js";
import type { RejectionCode } from "./rejection.js";

/** The bytes of a body, or why there are none. `client_gone`: nobody is left to answer. */
type CollectedBody = { ok: true; bytes: Uint8Array } | { ok: false; reason: BodyProblem };

type BodyProblem =
  | Extract<RejectionCode, "body_timeout" | "body_too_large" | "body_unavailable" | "overloaded">
  | "client_gone";

type CollectorConfig = Pick<ReceiverConfig, "clock" | "bodyLimitBytes" | "bodyTimeoutMs">;

/**
 * Collects the body of a delivery within all limits: of size, of time, and of the memory that all
 * bodies share.
 *
 * A stream of Node is read by its events, because async iteration would cost each delivery several
 * µs. Every other iterable may use one buffer for all its chunks, so they are copied.
 *
 * @returns a function. Its `keep` is false when the delivery will be refused anyway: the bytes are
 * then counted and not kept.
 */
export function createBodyCollector(bodies: HeldBodies, config: CollectorConfig) {
  const { clock, bodyLimitBytes, bodyTimeoutMs } = config;

  function complete(body: ArrayBufferView, keep: boolean): CollectedBody {
    if (body.byteLength > bodyLimitBytes) return failed("body_too_large");
    return { ok: true, bytes: keep ? copyOf(body) : new Uint8Array() };
  }

  function captured(request: object | undefined, keep: boolean): CollectedBody | undefined {
    const bytes = request && capturedRawBody(request);
    return bytes && complete(bytes, keep);
  }

  return (request: DeliveryRequest, keep: boolean): CollectedBody | Promise<CollectedBody> => {
    const { headers, signal } = request;
    const body = typeof request.body === "string" ? Buffer.from(request.body) : request.body;
    if (ArrayBuffer.isView(body)) return complete(body, keep);
    if (signal?.aborted === true) return failed("client_gone");
    const stream = body instanceof Readable ? body : null;
    // While nothing has read the stream, it alone has the bytes that were received. Otherwise the
    // parser that read it may have kept them, if the client has not gone.
    if (stream !== null && (!stream.readable || stream.readableDidRead))
      return (
        captured(stream, keep) ??
        failed(stream.readableAborted ? "client_gone" : "body_unavailable")
      );
    const header = headerValue(headers, "content-length");
    const announced = header === undefined ? null : Number(header);
    if (announced !== null && announced > bodyLimitBytes) return failed("body_too_large");
    const iterator = stream === null ? iteratorOf(body) : null;
    if (stream === null && iterator === null)
      return captured(body, keep) ?? failed("body_unavailable");

    return new Promise((resolve) => {
      // Most bodies arrive in one chunk, which is used directly: collecting chunks takes 3 µs more
      // for each delivery.
      let whole: Uint8Array | null = null;
      let chunks: Readable | null = null;
      let received = 0;
      let isOver = false;

      const end = (): void => {
        isOver = true;
        timeout.cancel();
        signal?.removeEventListener("abort", onCut);
      };
      const fail = (reason: BodyProblem): void => {
        if (isOver) return;
        end();
        stream?.off("data", onChunk);
        if (iterator !== null) stop(iterator);
        // A listener, or an iterator that never gives its next chunk, keeps these variables in
        // memory.
        chunks?.destroy();
        chunks = whole = null;
        resolve({ ok: false, reason });
      };
      const onCut = (): void => fail("client_gone");
      const evict = (): void => fail("overloaded");
      const onChunk = (chunk: unknown): void => {
        // The application called `setEncoding`, so the chunk is text, and the signed bytes cannot
        // be restored from it.
        if (!ArrayBuffer.isView(chunk)) return fail("body_unavailable");
        received += chunk.byteLength;
        if (received > bodyLimitBytes) return fail("body_too_large");
        if (!keep || chunk.byteLength === 0) return;
        const isWhole = chunk.byteLength === announced;
        // A body that has arrived whole is held too: its end may still be late, and until then it
        // needs memory.
        const heldBytes = isWhole ? chunk.byteLength : chunk.byteLength + CHUNK_OVERHEAD_BYTES;
        if (!bodies.hold(request, heldBytes, evict)) return evict();
        if (isWhole) {
          whole = stream === null ? copyOf(chunk) : (chunk as Uint8Array);
          return;
        }
        if (chunks === null) {
          // raw-body cannot be stopped before the end of its stream. So it reads this separate
          // stream, which gets only chunks within the limits. When the stream is destroyed,
          // raw-body drops the chunks and its promise stays pending.
          chunks = new Readable({ read: ignore });
          void getRawBody(chunks).then((bytes) => resolve({ ok: true, bytes }));
        }
        chunks.push(stream === null ? copyOf(chunk) : chunk);
      };
      const onEnd = (): void => {
        if (isOver) return;
        // Of a request that a mock or an adapter made, the bytes may stand beside an empty stream.
        const kept = received === 0 ? captured(body, keep) : undefined;
        if (kept === undefined && announced !== null && received !== announced)
          return fail("body_unavailable");
        end();
        if (kept !== undefined) return resolve(kept);
        if (chunks === null) resolve({ ok: true, bytes: whole ?? new Uint8Array() });
        else chunks.push(null);
        // The listeners keep this variable in memory until the request is freed, so the body is
        // released here.
        whole = null;
      };
      const pull = (from: AsyncIterator<unknown>): void => {
        // The constructor catches what `next` throws, and takes a result that is no promise.
        new Promise<IteratorResult<unknown>>((settle) => settle(from.next()))
          .then(({ done, value }) => {
            if (isOver) return;
            if (done === true) return onEnd();
            onChunk(value);
            if (isOver) return;
            // Empty chunks without end must not keep the event loop from the timeout.
            if ((value as Uint8Array).byteLength === 0) setImmediate(pull, from);
            else pull(from);
          })
          .catch(onCut);
      };

      signal?.addEventListener("abort", onCut);
      const timeout = clock.setTimeout(() => fail("body_timeout"), bodyTimeoutMs);
      if (iterator !== null) return pull(iterator);
      if (stream === null) return;
      stream.on("data", onChunk);
      // Content-Length already shows which byte is the last. The answer still waits for `end`,
      // because applications expect the request to end before its answer is sent.
      stream.on("end", onEnd);
      // Every failure of a request ends in `close`. `on` takes less time than `once`.
      stream.on("close", onCut);
      // An error of a stream without this listener would end the process.
      stream.on("error", onCut);
      // The application may have paused it while it checked something of its own.
      if (stream.readableFlowing === false) stream.resume();
    });
  };
}

function failed(reason: BodyProblem): CollectedBody {
  return { ok: false, reason };
}

function copyOf(view: ArrayBufferView): Uint8Array {
  return Buffer.from(new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
}

/**
 * @returns null for what is no iterable (a caller without types may pass parsed JSON), and for one
 * that is in use
 */
function iteratorOf(
  body: Partial<AsyncIterable<unknown>> | undefined,
): AsyncIterator<unknown> | null {
  try {
    return body?.[Symbol.asyncIterator]?.() ?? null;
  } catch {
    return null;
  }
}

/** Nothing waits for the end, because a generator ends only with its next chunk. */
function stop(iterator: AsyncIterator<unknown>): void {
  new Promise((settle) => settle(iterator.return?.())).catch(ignore);
}

/**
 * Memory that a chunk of a body needs in addition to its bytes. Measured on Node 20 with chunks of
 * one byte: the process grows by 450 to 500 bytes for each.
 */
export const CHUNK_OVERHEAD_BYTES = 512;

/**
 * The bodies in memory that the inbox does not have yet, because they are still arriving or wait
 * for their secret. They share one limit of bytes with the events that wait for their commit.
 *
 * When the limit is reached, the oldest body is evicted. Most bodies are held for milliseconds, so
 * the oldest one probably has a slow sender. If new bodies were refused instead, a few slow senders
 * could keep all others out.
 *
 * Queued events are never evicted. If they alone leave no room for a body, that body is refused.
 *
 * @param limits `hasRoom`: whether these bytes fit in memory, with the events that wait for their
 * commit
 */
export function createHeldBodies(limits: {
  hasRoom: (bytes: number) => boolean;
  maxBodies: number;
}) {
  const { hasRoom, maxBodies } = limits;
  /** The oldest is first, because a Map keeps the order of insertion. */
  const held = new Map<object, { bytes: number; evict: () => void }>();
  let heldBytes = 0;

  /** To be called when the delivery's bytes are dropped or given to the inbox. */
  function release(delivery: object): void {
    const body = held.get(delivery);
    if (body === undefined) return;
    held.delete(delivery);
    heldBytes -= body.bytes;
  }

  function evictOldestUntilFits(bytes: number): void {
    for (const [delivery, { evict }] of held) {
      if (held.size <= maxBodies && hasRoom(heldBytes + bytes)) return;
      release(delivery);
      evict();
    }
  }

  return {
    /**
     * To be called before more bytes of this delivery are kept. Other bodies may be evicted to make
     * room.
     *
     * @param evict called if this delivery is evicted later: its bytes must be dropped immediately
     * @returns false when there is no room: then the delivery is not held, and `evict` is not
     * called
     */
    hold(delivery: object, moreBytes: number, evict: () => void): boolean {
      const body = held.get(delivery) ?? { bytes: 0, evict };
      held.set(delivery, body);
      heldBytes += moreBytes;
      body.bytes += moreBytes;
      // An eviction of this body itself is reported by the result, not by the callback.
      body.evict = ignore;
      if (hasRoom(body.bytes)) evictOldestUntilFits(0);
      else release(delivery);
      body.evict = evict;
      return held.has(delivery);
    },
    release,
    /** Whether the inbox has room for a body of this size. Held bodies are evicted to make room. */
    makeRoom(bytes: number): boolean {
      if (!hasRoom(bytes)) return false;
      evictOldestUntilFits(bytes);
      return true;
    },
  };
}

export type HeldBodies = ReturnType<typeof createHeldBodies>;
