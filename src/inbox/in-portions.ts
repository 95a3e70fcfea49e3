/** Most events in one transaction of `replay` or `discard`. */
const AT_ONCE = 50;

/** Moves a portion of the events in each turn of the event loop, because each transaction blocks the event loop. */
export async function inPortions<Outcome>(
  eventIds: readonly string[],
  move: (eventIds: readonly string[]) => Promise<Outcome[]>,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (let from = 0; from < eventIds.length; from += AT_ONCE) {
    if (from > 0) await new Promise((resume) => setImmediate(resume));
    outcomes.push(...(await move(eventIds.slice(from, from + AT_ONCE))));
  }
  return outcomes;
}
