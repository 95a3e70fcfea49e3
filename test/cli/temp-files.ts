import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { tempFolder } from "../unit/temp-folder.js";

/** A folder with these files. It is deleted when the test is over. */
export function tempFiles(files: Readonly<Record<string, string | Uint8Array>> = {}): string {
  const folder = tempFolder();
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

/** The path of one such file. */
export function tempFile(content: string | Uint8Array, name = "body.json"): string {
  return join(tempFiles({ [name]: content }), name);
}
