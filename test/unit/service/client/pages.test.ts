import { expect, test } from "vitest";
import { demandPage, rankingsPage } from "./answers.js";
import { clientOn, failureOf } from "./client-on.js";
import { serve, type SeenRequest } from "./serve-answers.js";

const pageAsked = ({ path }: SeenRequest): number =>
  Number(new URL(path, "http://localhost").searchParams.get("page"));

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

test("pages are asked for one after the other, until there is no more, with the same query", async () => {
  const { baseUrl, seen } = await serve((_, request) => ({
    json: demandPage(pageAsked(request), pageAsked(request) < 3, [
      pageAsked(request) * 10,
      pageAsked(request) * 10 + 1,
    ]),
  }));
  const { client } = clientOn(baseUrl);
  const pages = await collect(client.searchDemandPages({ q: "voice" }));
  expect(pages.map(({ pagination }) => pagination.page)).toEqual([1, 2, 3]);
  const items = await collect(client.searchDemandItems({ q: "voice", page: 2 }));
  expect(items.map(({ keyword_id }) => keyword_id)).toEqual([20, 21, 30, 31]);
  expect(seen.every(({ path }) => path.includes("q=voice"))).toBe(true);
  expect(seen).toHaveLength(5);
});

test("an account that always gets the first page comes to an end, and sees no row twice", async () => {
  const { baseUrl, seen } = await serve(() => ({ json: rankingsPage(1, true, [1, 2]) }));
  const { client } = clientOn(baseUrl);
  const ranks = (await collect(client.rankingsItems())).map(({ rank }) => rank);
  expect([ranks, seen.length]).toEqual([[1, 2], 2]);
  expect(await collect(client.rankingsPages({ page: 5 }))).toEqual([]);
});

test.each([0, 201, "2"])(
  "an impossible first page, %j, is an error and not an empty list",
  async (page) => {
    const { baseUrl, seen } = await serve(() => ({ json: rankingsPage(1, false) }));
    const { client } = clientOn(baseUrl);
    const failure = await failureOf(collect(client.rankingsItems({ page: page as number })));
    expect([failure.kind, failure.message.includes('"page"'), seen.length]).toEqual([
      "invalid_request",
      true,
      0,
    ]);
  },
);

test("a page without items is the last one, whatever it says", async () => {
  const { baseUrl, seen } = await serve((_, request) => ({
    json: demandPage(pageAsked(request), true, []),
  }));
  expect(await collect(clientOn(baseUrl).client.searchDemandItems())).toEqual([]);
  expect(seen).toHaveLength(1);
});

test("the iterators end at the last page that the document allows", async () => {
  const { baseUrl, seen } = await serve((_, request) =>
    request.path.includes("rankings")
      ? { json: rankingsPage(pageAsked(request), true) }
      : { json: demandPage(pageAsked(request), true) },
  );
  const { client } = clientOn(baseUrl);
  expect((await collect(client.rankingsItems({ page: 198 }))).map(({ rank }) => rank)).toEqual([
    198, 199, 200,
  ]);
  const keywords = await collect(client.searchDemandItems({ page: 999 }));
  expect(keywords.map(({ keyword_id }) => keyword_id)).toEqual([999, 1000]);
  expect(seen).toHaveLength(5);
});

test("a page that fails ends the iteration with its error, after the pages before", async () => {
  const { baseUrl } = await serve((index) =>
    index === 0 ? { json: rankingsPage(1, true) } : { status: 403, body: "no" },
  );
  const pages = clientOn(baseUrl).client.rankingsPages();
  expect((await pages.next()).value).toMatchObject({ pagination: { page: 1 } });
  expect(await failureOf(pages.next())).toMatchObject({ kind: "http", status: 403 });
  expect(await pages.next()).toEqual({ done: true, value: undefined });
});
