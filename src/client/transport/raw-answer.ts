import type { PlatformAbortSignal } from "../platform.js";

/** The part of `Headers` that the client reads. */
export interface AnswerHeaders {
  get(name: string): string | null;
}

/** An answer as it came. */
export interface RawAnswer {
  status: number;
  headers: AnswerHeaders;
  /** Null when it was larger than the limit, or broke off. */
  body: Uint8Array | null;
}

/** The part of `Response` that holds the body. */
export interface AnswerBodySource {
  body?: {
    getReader(): {
      read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
      cancel(): Promise<unknown>;
    };
  } | null;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/**
 * The decompressed bytes of an answer. Null when there are more than the limit; the rest is then not read, since a small
 * compressed body can hold gigabytes.
 */
export async function readAnswerBody(
  response: AnswerBodySource,
  limitBytes: number,
  signal: PlatformAbortSignal,
): Promise<Uint8Array | null> {
  // Some implementations of fetch have no streams.
  if (response.body === null || response.body === undefined) {
    const bytes = new Uint8Array(await response.arrayBuffer());
    return bytes.byteLength > limitBytes ? null : bytes;
  }
  const reader = response.body.getReader();
  const stop = (): void => void reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", stop);
  try {
    const pieces: Uint8Array[] = [];
    let length = 0;
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      if (piece.value === undefined) continue;
      length += piece.value.byteLength;
      if (length > limitBytes) {
        stop();
        return null;
      }
      pieces.push(piece.value);
    }
    return joined(pieces, length);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function joined(pieces: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length);
  let offset = 0;
  for (const piece of pieces) {
    whole.set(piece, offset);
    offset += piece.byteLength;
  }
  return whole;
}
