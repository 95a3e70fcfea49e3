import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { printable } from "../../../src/cli/console/terminal.js";
import { transcriptOf } from "../golden.js";
import { tempFiles } from "../temp-files.js";

/** What is typed after `init`; `DIR` stands for a folder with these files. */
interface Played {
  title: string;
  args: string;
  files?: Record<string, string>;
  env?: Record<string, string>;
}

export const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();

/** The cases of a file beside this one. */
export const casesOf = (name: string): Played[] =>
  JSON.parse(readFileSync(join(import.meta.dirname, name), "utf8")) as Played[];

/**
 * Plays the cases, for a golden file: what each prints, and the files that it writes, with the lines
 * of them that `shown` finds.
 *
 * @param whole the files that are shown whole
 */
export async function playInit(
  cases: readonly Played[],
  shown: RegExp,
  whole = /^$/,
): Promise<string> {
  let text = "";
  for (const { title, args, files = {}, env = {} } of cases) {
    const before = Object.entries(files).map(
      ([path, content]) => [`app/${path}`, content] as const,
    );
    const folder = tempFiles(Object.fromEntries(before));
    const words = args.replaceAll("DIR", join(folder, "app")).split(" ");
    // To pack this clone takes seconds.
    const version = args.includes("--signalbox") ? [] : ["--signalbox", "^1.2.3"];
    const typed = ["init", ...words, ...version, "--no-install"];
    text += await transcriptOf([{ title, args: typed, env }]);
    for (const path of filesIn(folder)) {
      const content = readFileSync(join(folder, path), "utf8");
      if (content === files[path.replace("app/", "")]) continue;
      text += `+ ${path}\n`;
      for (const line of content.split("\n"))
        if (shown.test(line) || whole.test(path)) text += `    ${line.trim()}\n`;
    }
  }
  // The path from the folder of the tests, and control characters that were typed.
  const plain = text.replaceAll(/cd \S+\/(?=\S)/g, "cd ").replaceAll(/^[$+].*/gm, printable);
  // A golden file has no ports, and here they are what is said.
  return plain.replaceAll(/(?<=localhost|127\.0\.0\.1):(?=\d)/g, " port ");
}
