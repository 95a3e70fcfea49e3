import { readFileSync } from "node:fs";
import { join } from "node:path";

const texts = new Map<string, string>();

/**
 * Reads an event of the package's fixtures. Each call returns a new copy. @param name the path
 * without `.json`
 */
export function readFixture<Event>(name: string): Event {
  // The relative path is the same from `src/testing` and `dist/testing`.
  const path = join(import.meta.dirname, "../../../fixtures", `${name}.json`);
  const text = texts.get(name) ?? readFileSync(path, "utf8");
  texts.set(name, text);
  return JSON.parse(text) as Event;
}
