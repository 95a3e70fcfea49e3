/** An abort signal that is made when the callback reads it: most callbacks never do. */
export interface LazyAbort {
  readonly signal: AbortSignal;
}

/** A class, since one is made for every attempt: an object literal with a getter costs several times as much. */
export class AbortHandle implements LazyAbort {
  #controller: AbortController | null = null;
  #aborted: Error | null = null;

  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#aborted !== null) this.#controller.abort(this.#aborted);
    }
    return this.#controller.signal;
  }

  abort(reason: Error): void {
    this.#aborted = reason;
    this.#controller?.abort(reason);
  }
}

/** An error with the name that Node gives to its kind. */
export function namedError(name: "TimeoutError" | "AbortError", message: string): Error {
  const error = new Error(message);
  error.name = name;
  return error;
}
