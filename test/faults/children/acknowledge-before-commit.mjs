/**
 * The mistake that the whole package is against, kept to show that the kill test would notice it:
 * events are answered at once and written a moment later.
 */
export function acknowledgeBeforeCommit(store) {
  return {
    ...store,
    async commit(batch) {
      if (batch.accepts.length === 0) return store.commit(batch);
      const accepts = batch.accepts.map((event) => ({ ...event, state: "ready", leaseMs: null }));
      const late = { ...batch, accepts, settlements: [], claim: null };
      setTimeout(() => void store.commit(late).catch(() => {}), 5);
      return {
        ...(await store.commit({ ...batch, accepts: [] })),
        accepts: accepts.map(() => ({ status: "duplicate", seq: 0, sameBody: true })),
      };
    },
  };
}
