import { z } from "zod";
import { controlOperation } from "./control-operation.js";
import { timeTold } from "./service-time.js";

/**
 * The whole state. Interfaces of their own, since a compiler writes an inferred `Buffer` as `Buffer<ArrayBufferLike>`, which
 * TypeScript before 5.7 cannot read.
 */
export interface StateBytes extends Buffer {}
/** A snapshot as any bytes. */
export interface GivenBytes extends Uint8Array {}

/** What replaces the whole state. Each tells the time at which the new one goes on; what fails changes nothing. */
export interface WorldChanges {
  snapshot(): StateBytes;
  /** @throws ServiceError INVALID_BODY, DATA_UNAVAILABLE */
  load(bytes: GivenBytes): Promise<number>;
  /** @throws ServiceError DATA_UNAVAILABLE */
  reset(): Promise<number>;
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
      about:
        "Replaces the state by that of a snapshot, and goes on at the moment at which that was taken. Over HTTP the body is application/octet-stream.",
      input: z.strictObject({ bytes: z.custom<GivenBytes>((value) => value instanceof Uint8Array, "must be bytes") }),
      run: async ({ bytes }) => timeTold(await world.load(bytes)),
    }),
    reset: controlOperation({
      method: "POST",
      path: "/reset",
      about:
        "Begins anew: the seeded data, the accounts of the options or else those it was made with, the clock where it was told to begin, or at the present.",
      input: z.strictObject({}),
      run: async () => timeTold(await world.reset()),
    }),
  };
}
