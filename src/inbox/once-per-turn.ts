/**
 * Calls for work, however many, do it once at the end of the event loop's turn: after everything that the turn brought
 * (requests, results of a commit) has been looked at.
 */
export function oncePerTurn(work: () => void): () => void {
  let isScheduled = false;
  return () => {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      work();
    });
  };
}
