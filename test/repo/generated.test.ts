import { expect, test } from "vitest";
import { generate, TO_WRITE } from "./generate.js";
import { DOCUMENTS } from "./markdown.js";

test("the tables and numbers of the documents are those of the code: `npm run docs` writes them", async () => {
  const generated = await Promise.all(
    [...DOCUMENTS, "src/README.md"].map(async (path) => ({ path, text: await generate(path) })),
  );
  for (const { path, text } of generated) await expect(text).toMatchFileSnapshot(`../../${path}`);
  expect(generated.filter(({ text }) => text.includes(TO_WRITE)).map(({ path }) => path)).toEqual(
    [],
  );
});
