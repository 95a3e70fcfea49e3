import { readdirSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { Cli } from "../../console/cli.js";
import { echoed } from "../../console/printable.js";
import { CliError, environmentError, EXIT, usageError } from "../../options/exit.js";
import { TEMPLATES, type Template } from "./templates.js";

export interface Wishes {
  folder: string | undefined;
  template: string | undefined;
  force: boolean;
  /** No question is asked: the output is for a program. */
  json: boolean;
}

export interface Choices {
  template: Template;
  /** Absolute. */
  directory: string;
  /** Files that are there may be replaced. */
  replace: boolean;
}

const SUGGESTION = "my-receiver";

/** What the flags say. On a terminal the user is asked for the rest. */
export async function choose(wishes: Wishes, cli: Cli): Promise<Choices> {
  const hasUser = !wishes.json && cli.stdin.isTTY && cli.stderr.isTTY;
  const asker = hasUser ? await createAsker(cli) : null;
  const folder = wishes.folder ?? (await asker?.folder(SUGGESTION));
  if (folder === undefined || folder.trim() === "") {
    throw usageError(`name the folder to make, such as \`npx signalbox init ${SUGGESTION}\``);
  }
  const directory = resolve(folder);
  const name = wishes.template ?? (await asker?.template(TEMPLATES));
  // Commander has refused other names.
  const template = TEMPLATES.find((each) => each.name === name) ?? TEMPLATES[0];
  return { template, directory, replace: await mayReplace(template, directory, wishes.force, asker) };
}

async function mayReplace(
  { kind }: Template,
  directory: string,
  force: boolean,
  asker: Asker | null,
): Promise<boolean> {
  const taken = isTaken(directory);
  // An add-on is made for a folder with an app in it.
  if (force || kind === "add-on" || !taken) return force;
  const shown = echoed(directory);
  if (asker !== null && (await asker.isFine(`${shown} is not empty. Replace files of the same name?`))) return true;
  throw usageError(`${shown} is not empty: name another folder, or give --force to replace files of the same name`);
}

/** Questions to the user at the terminal. Each throws if the user answers with Ctrl-C: exit code 130. */
interface Asker {
  folder(suggestion: string): Promise<string>;
  /** Resolves to the name of one of them. */
  template(templates: readonly Template[]): Promise<string>;
  isFine(question: string): Promise<boolean>;
}

/** Asks on stderr: stdout is for data. */
async function createAsker({ stdin, stderr, signal }: Cli): Promise<Asker> {
  // Most runs ask nothing, and start faster without it.
  const { confirm, isCancel, select, text } = await import("@clack/prompts");
  assumeSize(stderr);
  const common = { input: stdin, output: stderr, signal };
  const answered = <Answer>(answer: Answer): Exclude<Answer, symbol> => {
    if (isCancel(answer)) throw new CliError(EXIT.interrupted, "interrupted; nothing was written");
    return answer as Exclude<Answer, symbol>;
  };
  return {
    async folder(suggestion) {
      const options = { message: "Which folder?", placeholder: suggestion, defaultValue: suggestion };
      return answered(await text({ ...common, ...options }));
    },
    async template(templates) {
      // Clack shows a hint only for the choice under the cursor.
      const options = templates.map(({ name, description }) => ({ value: name, label: `${name}: ${description}` }));
      return answered(await select({ ...common, message: "Which template?", options }));
    },
    async isFine(question) {
      return answered(await confirm({ ...common, message: question, initialValue: false }));
    },
  };
}

/** Some terminals say that they have 0 columns. The questions would be printed with one character a line. */
function assumeSize(stderr: Cli["stderr"]): void {
  if (stderr.columns === 0) stderr.columns = 80;
  if (stderr.rows === 0) stderr.rows = 24;
}

/** A folder that holds only these counts as empty: a new repository, and a file that a file manager leaves. */
const NOTHING = new Set([".git", ".DS_Store"]);

/**
 * Whether the folder holds something. A folder that does not exist is empty.
 *
 * @throws CliError when it is a file, or cannot be read
 */
function isTaken(directory: string): boolean {
  try {
    const found = statSync(directory, { throwIfNoEntry: false });
    if (found === undefined) return false;
    if (!found.isDirectory()) throw usageError(`${echoed(directory)} is a file: name a folder, such as my-receiver`);
    return readdirSync(directory).some((name) => !NOTHING.has(name));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    if (code === "ENOTDIR") throw usageError(`${echoed(directory)} leads through a file: name another folder`);
    throw environmentError(`cannot read ${echoed(directory)} (${code})`);
  }
}
