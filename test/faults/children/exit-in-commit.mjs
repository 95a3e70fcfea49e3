/** The process ends when the first event is written and not synced yet: nothing was answered. */
export function exitInCommit(store) {
  return {
    ...store,
    commit(batch) {
      const committed = store.commit(batch);
      if (batch.accepts.length > 0) process.exit(4);
      return committed;
    },
  };
}
