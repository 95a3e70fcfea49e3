/**
 * The part of an abort signal that the client uses, for programs that are compiled without the
 * types of a platform.
 */
export interface AbortSignalLike {
  readonly aborted: boolean;
  readonly reason: unknown;
  /** Calls the listener once the signal is aborted. */
  addEventListener(type: "abort", listener: () => void): void;
  /** Removes a listener. */
  removeEventListener(type: "abort", listener: () => void): void;
}

// Uses the platform's own types if there are any, so the client's types depend neither on the DOM
// nor on Node.
/** The platform's `AbortSignal`. */
export type PlatformAbortSignal = typeof globalThis extends {
  AbortSignal: { prototype: infer Signal };
}
  ? Signal
  : AbortSignalLike;

/** The platform's `fetch`. */
export type PlatformFetch = typeof globalThis extends { fetch: infer Fetch }
  ? Fetch
  : (url: string, init: object) => Promise<object>;
