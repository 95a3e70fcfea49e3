/** Longer than anything takes on a busy machine: only a failing test gets here. */
const DEADLINE_MS = 110_000;

/**
 * Lets the event loop, and with it the disk, go on until the condition holds. For what no event
 * reports.
 */
export async function eventually(
  what: string,
  condition: () => boolean | Promise<boolean>,
  deadlineMs: number = DEADLINE_MS,
): Promise<void> {
  const startedAt = performance.now();
  while (!(await condition())) {
    if (performance.now() - startedAt > deadlineMs) throw new Error(`${what} never came true`);
    await new Promise((resume) => setImmediate(resume));
  }
}
