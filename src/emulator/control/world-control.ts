import { z } from "zod";
import { controlOperation } from "./control-operation.js";

/**
 * The whole state. Interfaces of their own, since a compiler writes an inferred `Buffer` as `Buffer<ArrayBufferLike>`, which
 * TypeScript before 5.7 cannot read.
 */
export interface StateBytes extends Buffer {}
/** A snapshot as any bytes. */
export interface GivenBytes extends Uint8Array {}

/** What replaces the whole state. */
export interface WorldChanges {
  snapshot(): StateBytes;
  /** @throws ServiceError INVALID_BODY */
  load(bytes: GivenBytes): Promise<void>;
  reset(): Promise<void>;
}

/** The state as a whole. */
export function worldControl(world: WorldChanges) {
  return {
    snapshot: controlOperation({
      method: "GET",
      path: "/snapshot",
      about: "Gives the whole state as bytes, to be loaded again.",
      input: z.strictObject({}),
      run: () => world.snapshot(),
    }),
    loadSnapshot: controlOperation({
      method: "POST",
      path: "/snapshot",
      about: "Replaces the state by that of a snapshot, its clock too. Over HTTP the body is application/octet-stream.",
      input: z.strictObject({ bytes: z.custom<GivenBytes>((value) => value instanceof Uint8Array, "must be bytes") }),
      async run({ bytes }) {
        await world.load(bytes);
        return {};
      },
    }),
    reset: controlOperation({
      method: "POST",
      path: "/reset",
      about: "Goes back to the beginning: the seeded data, the accounts of the options, the clock where it began.",
      input: z.strictObject({}),
      async run() {
        await world.reset();
        return {};
      },
    }),
  };
}
