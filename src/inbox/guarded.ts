/**
 * The same function, and what it throws is dropped. For loggers and listeners: an error of theirs would otherwise stop the
 * commit or the hand-off that called them, and no logger is left to report it to.
 */
export function guarded<Args extends unknown[]>(notify: (...args: Args) => void): (...args: Args) => void {
  return (...args) => {
    try {
      notify(...args);
    } catch {
      // Dropped, see above.
    }
  };
}
