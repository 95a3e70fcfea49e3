/** Runs `work` over the items, at most `concurrency` at a time. The first rejection ends it. */
export async function inParallel<Item>(
  items: Iterable<Item>,
  concurrency: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.iterator]();
  let isOver = false;
  async function worker(): Promise<void> {
    while (!isOver) {
      const next = iterator.next();
      if (next.done === true) return;
      try {
        await work(next.value);
      } catch (error) {
        isOver = true;
        throw error;
      }
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker));
}
