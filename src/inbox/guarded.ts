/** Drops the function's errors. An error of a logger or listener must not stop the commit or hand-off that calls it. */
export function guarded<Args extends unknown[]>(notify: (...args: Args) => void): (...args: Args) => void {
  return (...args) => {
    try {
      notify(...args);
    } catch {
      // Nothing is left to report it to.
    }
  };
}
