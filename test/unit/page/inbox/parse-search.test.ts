import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseSearch } from "../../../../src/page/inbox/parse-search.js";
import { Refusal } from "../../../../src/page/inbox/refusal.js";

const FOLDER = join(import.meta.dirname, "golden");
const NOW = Date.parse("2026-11-23T12:00:00Z");

/** The query that is made of a search, with its times as dates; or why it is refused. */
function told(search: string): string {
  try {
    const dated = (name: string, value: unknown): unknown =>
      name.startsWith("received") ? new Date(value as number).toISOString() : value;
    return JSON.stringify(parseSearch(search, NOW), dated);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return `${error.status} ${error.code}: ${error.message}`;
  }
}

test("what a search asks for, and which are refused, in words", async () => {
  const searches = JSON.parse(readFileSync(join(FOLDER, "searches.json"), "utf8")) as string[];
  const lines = [...searches, "a".repeat(1001)].map(
    (search) => `${JSON.stringify(search).slice(0, 80)} -> ${told(search)}\n`,
  );
  await expect(lines.join("")).toMatchFileSnapshot(join(FOLDER, "searches.txt"));
});
