/** An abort signal as far as the client looks at one, for a program that is compiled without the types of any platform. */
export interface AbortSignalLike {
  readonly aborted: boolean;
  readonly reason: unknown;
  /** Calls the listener when it is aborted. */
  addEventListener(type: "abort", listener: () => void): void;
  /** Calls that listener no more. */
  removeEventListener(type: "abort", listener: () => void): void;
}

// Taken from the platform's own types where there are any, so that ours name neither the DOM nor Node.
/** The platform's `AbortSignal`. */
export type PlatformAbortSignal = typeof globalThis extends { AbortSignal: { prototype: infer Signal } }
  ? Signal
  : AbortSignalLike;

/** The platform's `fetch`. */
export type PlatformFetch = typeof globalThis extends { fetch: infer Fetch }
  ? Fetch
  : (url: string, init: object) => Promise<object>;
