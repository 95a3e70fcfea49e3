import type { PlatformAbortSignal } from "../platform.js";

/** The part of `Headers` that the client reads. */
export interface AnswerHeaders {
  get(name: string): string | null;
}

/** An answer that was not checked yet. */
export interface RawAnswer {
  status: number;
  headers: AnswerHeaders;
  /** Null when the body was larger than the limit or incomplete. */
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
 * Reads the decompressed bytes of an answer. Returns null and stops reading when there are more
 * bytes than the limit, because a small compressed body can hold gigabytes.
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
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    let length = 0;
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      if (chunk.value === undefined) continue;
      length += chunk.value.byteLength;
      if (length > limitBytes) {
        stop();
        return null;
      }
      chunks.push(chunk.value as Uint8Array<ArrayBuffer>);
    }
    return new Uint8Array(await new Blob(chunks).arrayBuffer());
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
