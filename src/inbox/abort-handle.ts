/** An abort signal that is made only when somebody asks for it: most callbacks never do. */
export interface LazyAbort {
  readonly signal: AbortSignal;
}

export interface AbortHandle extends LazyAbort {
  abort(reason: Error): void;
}

export function createAbortHandle(): AbortHandle {
  let controller: AbortController | null = null;
  let aborted: Error | null = null;
  return {
    get signal() {
      if (controller === null) {
        controller = new AbortController();
        if (aborted !== null) controller.abort(aborted);
      }
      return controller.signal;
    },
    abort(reason) {
      aborted = reason;
      controller?.abort(reason);
    },
  };
}

/** An error with the name that the platform gives to its kind. */
export function namedError(name: "TimeoutError" | "AbortError", message: string): Error {
  const error = new Error(message);
  error.name = name;
  return error;
}
