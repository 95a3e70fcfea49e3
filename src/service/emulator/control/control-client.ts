import type { Query } from "../../../page/parts/request.js";

/** The path of the control API. */
export const CONTROL_PREFIX = "/_emulator";

/** What `GET /_emulator` says of an operation. */
export interface DescribedOperation {
  name: string;
  method: string;
  /** With the prefix; `{name}` is a parameter of the input. */
  path: string;
  about: string;
  /** JSON Schema. */
  input: object;
}

/** Sends a request to the emulator. */
export type SendControl = (
  method: string,
  path: string,
  input: { query?: Query; body?: unknown },
) => Promise<unknown>;

/**
 * The operations as methods, for callers outside of the emulator's process. They call what the
 * emulator itself has described, so no client has a list of them.
 */
export function controlMethods<Control>(
  operations: readonly DescribedOperation[],
  send: SendControl,
): Control {
  const methods = operations.map(({ name, method, path }) => {
    const run = (input: object = {}): Promise<unknown> => {
      const rest = new Map(Object.entries(input));
      const filled = path.replaceAll(/\{(\w+)\}/g, (_braces, key: string) => {
        const value = String(rest.get(key));
        rest.delete(key);
        return encodeURIComponent(value);
      });
      const others = Object.fromEntries(rest) as Query;
      return send(method, filled, method === "GET" ? { query: others } : { body: others });
    };
    return [name, run];
  });
  // The emulator has named its operations itself, and those of this version have these types.
  return Object.fromEntries(methods) as Control;
}
