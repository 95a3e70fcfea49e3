/**
 * Each attempt makes one. The abort signal is made on first use, because most callbacks do not use it. It is a class, because
 * an object literal with a getter takes several times as long to make.
 */
export class AbortHandle {
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

/** Makes an error with a name that Node uses for aborts. */
export function namedError(name: "TimeoutError" | "AbortError", message: string): Error {
  const error = new Error(message);
  error.name = name;
  return error;
}
