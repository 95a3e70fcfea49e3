import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The same way up from `src/testing` and `dist/testing`. */
const FIXTURES = join(import.meta.dirname, "../../fixtures");

const texts = new Map<string, string>();

/** An event of the package's fixtures, by its path without `.json`. Each call gives a copy of its own. */
export function readFixture<Event>(name: string): Event {
  let text = texts.get(name);
  if (text === undefined) {
    text = readFileSync(join(FIXTURES, `${name}.json`), "utf8");
    texts.set(name, text);
  }
  return JSON.parse(text) as Event;
}
