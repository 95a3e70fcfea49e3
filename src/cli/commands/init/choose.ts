import { resolve } from "node:path";
import type { Cli } from "../../console/cli.js";
import { usageError } from "../../options/exit.js";
import { echoed } from "../../console/printable.js";
import { canAsk, createAsker, type Asker } from "./ask.js";
import { isTaken } from "./target-folder.js";
import { TEMPLATES, type Template } from "./templates.js";

export interface Wishes {
  folder: string | undefined;
  template: string | undefined;
  force: boolean;
  /** Nobody is asked: the output is for a program. */
  json: boolean;
}

export interface Choices {
  template: Template;
  /** As it was typed. */
  folder: string;
  /** Absolute. */
  directory: string;
  /** Files that are there may be replaced. */
  replace: boolean;
}

const SUGGESTION = "my-receiver";

/** What was said by flags; the rest is asked for on a terminal, and nowhere else. */
export async function choose(wishes: Wishes, cli: Cli): Promise<Choices> {
  const asker = !wishes.json && canAsk(cli) ? await createAsker(cli) : null;
  const folder = wishes.folder ?? (await asker?.folder(SUGGESTION));
  if (folder === undefined || folder.trim() === "") {
    throw usageError(`name the folder to make, such as \`npx signalbox init ${SUGGESTION}\``);
  }
  const directory = resolve(folder);
  const name = wishes.template ?? (await asker?.template(TEMPLATES));
  // Commander knows the names.
  const template = TEMPLATES.find((each) => each.name === name) ?? TEMPLATES[0];
  return { template, folder, directory, replace: await mayReplace(template, directory, wishes.force, asker) };
}

async function mayReplace(
  { kind }: Template,
  directory: string,
  force: boolean,
  asker: Asker | null,
): Promise<boolean> {
  const taken = isTaken(directory);
  // An add-on goes where there is something.
  if (force || kind === "add-on" || !taken) return force;
  const shown = echoed(directory);
  if (asker !== null && (await asker.isFine(`${shown} is not empty. Replace files of the same name?`))) return true;
  throw usageError(`${shown} is not empty: name another folder, or give --force to replace files of the same name`);
}
