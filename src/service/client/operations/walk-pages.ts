/**
 * Requests one page after the other, each when the caller asks for it. Ends when the service says
 * that there are no more pages, at the last page that the document allows, and at a page without
 * items. Also ends when the service answers with a different page from the requested page, because
 * Developer Access always gets the first page.
 */
export async function* walkPages<
  Answer extends { items: readonly unknown[]; pagination: { page: number; has_more: boolean } },
>(
  firstPage: number,
  lastPage: number,
  read: (page: number) => Promise<Answer>,
): AsyncGenerator<Answer, void, undefined> {
  for (let page = firstPage; ; page++) {
    const answer = await read(page);
    if (answer.pagination.page !== page) return;
    yield answer;
    // Checked after the read: if the caller's first page is out of bounds, `read` throws an error
    // for it.
    if (page >= lastPage || !answer.pagination.has_more || answer.items.length === 0) return;
  }
}

export async function* itemsOf<Item>(
  pages: AsyncIterable<{ items: readonly Item[] }>,
): AsyncGenerator<Item, void, undefined> {
  for await (const page of pages) yield* page.items;
}
