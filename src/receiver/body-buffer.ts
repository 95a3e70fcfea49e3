/**
 * Collects a body in one buffer that grows. Pieces in a list would each cost some 200 bytes beside their own: a body
 * that comes in chunks of one byte would take two hundred times its size.
 */
export interface BodyBuffer {
  /** The size of the buffer once this piece is in it. */
  capacityWith(piece: Uint8Array): number;
  append(piece: Uint8Array): void;
  /** All that was appended, in a buffer of exactly its size. */
  take(): Uint8Array;
}

const SMALLEST_BYTES = 512;

export function createBodyBuffer(maxBytes: number): BodyBuffer {
  let buffer: Uint8Array = Buffer.alloc(0);
  let length = 0;

  function capacityWith({ byteLength }: Uint8Array): number {
    const needed = length + byteLength;
    if (length === 0 || needed <= buffer.byteLength) return Math.max(needed, buffer.byteLength);
    return Math.max(needed, Math.min(maxBytes, Math.max(SMALLEST_BYTES, 2 * needed)));
  }

  function resize(capacity: number): void {
    if (capacity === buffer.byteLength) return;
    const resized = Buffer.allocUnsafeSlow(capacity);
    resized.set(buffer.subarray(0, length));
    buffer = resized;
  }

  return {
    capacityWith,
    append(piece) {
      // The common body comes in one piece, which is not copied.
      if (length === 0) buffer = piece;
      else {
        resize(capacityWith(piece));
        buffer.set(piece, length);
      }
      length += piece.byteLength;
    },
    take() {
      resize(length);
      return buffer;
    },
  };
}
