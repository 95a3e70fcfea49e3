import { readdirSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { SENDER_NAMES, type SenderName } from "../../kit/senders/records.js";
import type { Cli } from "../console/cli.js";
import { CliError, environmentError, EXIT, usageError } from "../console/exit.js";
import { echoed } from "../console/terminal.js";
import { isAddOn, STORES, TEMPLATES, type Store, type Template } from "./templates.js";

interface Given {
  folder: string | undefined;
  template?: string;
  sender?: SenderName;
  store?: Store;
  force?: true;
  /** The output is for a program, so no question is asked. */
  json?: true;
}

export interface Choices {
  template: Template;
  /** Undefined for the service. */
  sender: SenderName | undefined;
  store: Store;
  directory: string;
  /** Whether existing files of the same name are replaced. */
  replace: boolean;
}

const SUGGESTION = "my-receiver";
const OWN: SenderName = "standard-webhooks";

export async function choose(given: Given, cli: Cli): Promise<Choices> {
  const hasUser = !given.json && cli.stdin.isTTY && cli.stderr.isTTY;
  const asker = hasUser ? await createAsker(cli) : null;
  // Either is enough to begin with, so the rest is not asked.
  const isOpen = given.template === undefined && given.sender === undefined;
  const sender = isOpen ? await asker?.sender() : given.sender;
  const name = isOpen ? await asker?.template(sender) : given.template;
  // No name means the first template. Unknown names do not get here, because Commander refuses
  // them.
  const template = TEMPLATES.find((each) => each.name === name) ?? TEMPLATES[0];
  const store = given.store ?? (isOpen ? await asker?.store() : undefined) ?? "sqlite";
  // An add-on is written into the folder of an app, in which the user usually is.
  const folder = given.folder ?? (isAddOn(template.name) ? "." : await asker?.folder());
  if (folder === undefined || folder.trim() === "") {
    throw usageError(`name the new folder, such as \`npx signalbox init ${SUGGESTION}\``);
  }
  const directory = resolve(folder);
  // An add-on is written into the folder of an app, so a folder that is not empty needs no
  // question.
  if (!isTaken(directory) || given.force || isAddOn(template.name)) {
    return { template, sender, store, directory, replace: given.force === true };
  }
  const shown = echoed(directory);
  const replace = await asker?.confirm(`${shown} is not empty. Replace files of the same name?`);
  if (replace) return { template, sender, store, directory, replace };
  throw usageError(
    `${shown} is not empty: name another folder, or give --force to replace files of the same name`,
  );
}

/**
 * Questions to the user at the terminal. Ctrl-C makes them throw a `CliError` with exit code 130.
 */
async function createAsker({ stdin, stderr, signal }: Cli) {
  const { confirm, isCancel, select, text } = await import("#clack-prompts");
  // Some terminals report 0 columns, and Clack would then print one character in each line of a
  // question.
  if (stderr.columns === 0) stderr.columns = 80;
  if (stderr.rows === 0) stderr.rows = 24;
  const common = { input: stdin, output: stderr, signal };
  const answered = <Answer>(answer: Answer): Exclude<Answer, symbol> => {
    if (isCancel(answer)) throw new CliError(EXIT.interrupted, "interrupted; nothing was written");
    return answer as Exclude<Answer, symbol>;
  };
  return {
    async folder(): Promise<string> {
      const options = {
        message: "Which folder?",
        placeholder: SUGGESTION,
        defaultValue: SUGGESTION,
      };
      return answered(await text({ ...common, ...options }));
    },
    async sender(): Promise<SenderName | undefined> {
      const options = [
        { value: "" as const, label: "the Product Intelligence service" },
        ...SENDER_NAMES.filter((value) => value !== OWN).map((value) => ({ value, label: value })),
        {
          value: OWN,
          label: "your own (docs/own-sender.md)",
        },
      ];
      const message = "Who sends the webhooks?";
      return answered(await select<SenderName | "">({ ...common, message, options })) || undefined;
    },
    async template(sender: SenderName | undefined): Promise<string> {
      // The description is in the label, because Clack shows a `hint` only for the choice under the
      // cursor.
      const fitting = TEMPLATES.filter(({ signalsOnly }) => sender === undefined || !signalsOnly);
      const options = fitting.map(({ name, description }) => ({
        value: name,
        label: `${name}: ${description}`,
      }));
      return answered(await select({ ...common, message: "Into which framework?", options }));
    },
    async store(): Promise<Store> {
      const options = STORES.map((value) => ({ value, label: value }));
      return answered(await select<Store>({ ...common, message: "Which store?", options }));
    },
    async confirm(question: string): Promise<boolean> {
      return answered(await confirm({ ...common, message: question, initialValue: false }));
    },
  };
}

/** A folder that holds only these entries counts as empty. macOS adds `.DS_Store` to folders. */
const IGNORED = new Set([".git", ".DS_Store"]);

/** @throws CliError when the path is a file, or the folder cannot be read */
function isTaken(directory: string): boolean {
  try {
    const found = statSync(directory, { throwIfNoEntry: false });
    if (found === undefined) return false;
    if (!found.isDirectory())
      throw usageError(`${echoed(directory)} is a file: name a folder, such as my-receiver`);
    return readdirSync(directory).some((name) => !IGNORED.has(name));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw environmentError(`cannot read ${echoed(directory)} (${code})`);
  }
}
