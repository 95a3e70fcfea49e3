/** The system's clock, so much ahead: another process's lease is over, without the wait. */
export function systemClockAhead(aheadMs) {
  return {
    now: () => Date.now() + aheadMs,
    elapsed: () => performance.now(),
    setTimeout(callback, delayMs) {
      const timer = setTimeout(() => callback(), delayMs).unref();
      return { cancel: () => clearTimeout(timer) };
    },
  };
}
