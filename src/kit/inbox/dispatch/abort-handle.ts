/**
 * Aborts the callback of one attempt, with a reason whose name is that of Node's own aborts, so
 * that callbacks can check for it. The abort signal is made when the callback first reads it,
 * because most never do. A class, because an object literal with a getter takes several times as
 * long to make.
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
