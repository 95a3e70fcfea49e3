/** The part of a page that decides whether another one follows. */
export interface Page {
  items: readonly unknown[];
  pagination: { page: number; has_more: boolean };
}

/**
 * Page after page, each requested when the caller asks for it. The walk ends where the service says that there is no more,
 * at the last page that the document allows, at a page without items, and when the answer is another page than the
 * requested one: Developer Access always gets the first page, and the walk would never end.
 */
export async function* walkPages<Answer extends Page>(
  firstPage: number,
  lastPage: number,
  read: (page: number) => Promise<Answer>,
): AsyncGenerator<Answer, void, undefined> {
  for (let page = firstPage; ; page++) {
    const answer = await read(page);
    if (answer.pagination.page !== page) return;
    yield answer;
    // Checked after the read, so that `read` itself refuses a first page that is out of bounds.
    if (page >= lastPage || !answer.pagination.has_more || answer.items.length === 0) return;
  }
}

/** The items of the pages, one by one. */
export async function* itemsOf<Item>(
  pages: AsyncIterable<{ items: readonly Item[] }>,
): AsyncGenerator<Item, void, undefined> {
  for await (const page of pages) yield* page.items;
}
