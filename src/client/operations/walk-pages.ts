/** As much of a page as is looked at here. */
export interface Page {
  items: readonly unknown[];
  pagination: { page: number; has_more: boolean };
}

/**
 * Page after page, each asked for when it is wanted. Ends where the service says that there is no more, at the last page that
 * the document allows, at a page without items, and when another page comes than was asked for: Developer Access is given
 * the first one whatever it asks for, and would never come to an end.
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
    // Looked at afterwards: that there is no first page like that is for `read` to say.
    if (page >= lastPage || !answer.pagination.has_more || answer.items.length === 0) return;
  }
}

/** Their items, one by one. */
export async function* itemsOf<Item>(
  pages: AsyncIterable<{ items: readonly Item[] }>,
): AsyncGenerator<Item, void, undefined> {
  for await (const page of pages) yield* page.items;
}
