import { randomBytes } from "node:crypto";

/** The source of ids, keys and secrets. */
export interface RandomSource {
  /** Returns `size` random bytes. */
  bytes(size: number): Buffer;
}

export const systemRandom: RandomSource = { bytes: randomBytes };

/** Returns a random UUID, version 4. */
export function randomUuid(random: RandomSource): string {
  const bytes = random.bytes(16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString("hex");
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20),
  ].join("-");
}
