import { isSignalboxError, type SignalboxError } from "../../src/kit/index.js";

/** The SignalboxError that a call throws; anything else fails the test. */
export function errorOf(call: () => unknown): SignalboxError {
  try {
    call();
  } catch (error) {
    if (isSignalboxError(error)) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

/** The SignalboxError that a promise rejects with; anything else fails the test. */
export async function rejectionOf(promise: Promise<unknown>): Promise<SignalboxError> {
  let error: unknown;
  try {
    await promise;
  } catch (caught) {
    error = caught;
  }
  if (isSignalboxError(error)) return error;
  throw error ?? new Error("nothing was rejected");
}
