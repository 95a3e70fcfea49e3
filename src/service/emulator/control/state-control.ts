import { z } from "zod";
import { serviceTime } from "./clock-control.js";
import { controlOperation } from "./control-operation.js";

// Without this name the declaration files would say `Buffer<ArrayBufferLike>`, which TypeScript
// before 5.7 cannot read.
export interface StateBytes extends Buffer {}
export interface GivenBytes extends Uint8Array {}

/** Replaces the whole state. Each change returns the time at which the new state continues. */
export interface StateChanges {
  /** @throws ServiceError DATA_UNAVAILABLE */
  snapshot(): Promise<StateBytes>;
  /** @throws ServiceError INVALID_BODY, DATA_UNAVAILABLE */
  load(bytes: GivenBytes): Promise<number>;
  /** @throws ServiceError DATA_UNAVAILABLE */
  reset(): Promise<number>;
}

/** The control operations on the whole state. */
export function stateControl(state: StateChanges) {
  return {
    snapshot: controlOperation(
      "GET /snapshot",
      "Returns the whole state as bytes, for loadSnapshot. The bytes hold all signing secrets.",
      {},
      () => state.snapshot(),
    ),
    loadSnapshot: controlOperation(
      "POST /snapshot",
      "Replaces the state with a snapshot. The clock continues at the time of the snapshot. Over HTTP the body is application/octet-stream.",
      {
        bytes: z.custom<GivenBytes>((value) => value instanceof Uint8Array, "must be bytes"),
      },
      async ({ bytes }) => serviceTime(await state.load(bytes)),
    ),
    reset: controlOperation(
      "POST /reset",
      "Starts again with the seeded data. The accounts and the start of the clock come from the emulator's options accounts and startAt. An option that is not set has the value with which the data were created. Without any value there are no accounts, and the clock starts at the present.",
      {},
      async () => serviceTime(await state.reset()),
    ),
  };
}
