/** The system's clock, so much ahead: a lease of somebody else that has long run out, without the wait. */
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
