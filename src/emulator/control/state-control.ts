import { z } from "zod";
import { serviceTime } from "./clock-control.js";
import { controlOperation } from "./control-operation.js";

/**
 * The whole state as bytes. An interface of its own, since a compiler writes an inferred `Buffer` as
 * `Buffer<ArrayBufferLike>`, which TypeScript before 5.7 cannot read.
 */
export interface StateBytes extends Buffer {}
/** A snapshot as any bytes. */
export interface GivenBytes extends Uint8Array {}

/** Replaces the whole state. Each change gives the time at which the new state continues; one that fails changes nothing. */
export interface StateChanges {
  snapshot(): StateBytes;
  /** @throws ServiceError INVALID_BODY, DATA_UNAVAILABLE */
  load(bytes: GivenBytes): Promise<number>;
  /** @throws ServiceError DATA_UNAVAILABLE */
  reset(): Promise<number>;
}

/** The control operations on the state as a whole. */
export function stateControl(state: StateChanges) {
  return {
    snapshot: controlOperation({
      method: "GET",
      path: "/snapshot",
      about: "Gives the whole state as bytes, to be loaded again. They hold all signing secrets.",
      input: z.strictObject({}),
      run: () => state.snapshot(),
    }),
    loadSnapshot: controlOperation({
      method: "POST",
      path: "/snapshot",
      about:
        "Replaces the state by that of a snapshot; the clock continues at the moment at which it was taken. Over HTTP the body is application/octet-stream.",
      input: z.strictObject({ bytes: z.custom<GivenBytes>((value) => value instanceof Uint8Array, "must be bytes") }),
      run: async ({ bytes }) => serviceTime(await state.load(bytes)),
    }),
    reset: controlOperation({
      method: "POST",
      path: "/reset",
      about:
        "Starts anew: with the seeded data, the accounts of the options or else those of the first start, and the clock at startAt or at the present.",
      input: z.strictObject({}),
      run: async () => serviceTime(await state.reset()),
    }),
  };
}
