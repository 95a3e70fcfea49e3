/**
 * Lets the event loop turn until the condition holds; fails after many turns instead of hanging.
 */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what = "the condition",
): Promise<void> {
  for (let turn = 0; turn < 2000; turn++) {
    if (await condition()) return;
    await turns(1);
  }
  throw new Error(`${what} never came true`);
}

/** For what must not happen: gives everything that is under way the turns it needs to happen in. */
export async function turns(count = 20): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resume) => setImmediate(resume));
}
