import { resolve } from "node:path";
import type { Cli } from "../../console/cli.js";
import { CliError, EXIT } from "../../options/exit.js";
import { isTaken } from "./target-folder.js";
import type { Template } from "./templates.js";

/** Questions to the person at the terminal. Each of them throws when it is answered with Ctrl-C: exit code 130. */
export interface Asker {
  folder(suggestion: string): Promise<string>;
  /** Gives back the name of one of them. */
  template(templates: readonly Template[]): Promise<string>;
  isFine(question: string): Promise<boolean>;
}

/** A person sees what is asked, and can answer. */
export function canAsk({ stdin, stderr }: Cli): boolean {
  return stdin.isTTY && stderr.isTTY;
}

/** Asks on stderr: stdout is for data. */
export async function createAsker({ stdin, stderr, signal }: Cli): Promise<Asker> {
  // Most runs ask nothing and start faster without.
  const { confirm, isCancel, select, text } = await import("@clack/prompts");
  assumeSize(stderr);
  const common = { input: stdin, output: stderr, signal };
  const answered = <Answer>(answer: Answer): Exclude<Answer, symbol> => {
    if (isCancel(answer)) throw new CliError(EXIT.interrupted, "interrupted; nothing was written");
    return answer as Exclude<Answer, symbol>;
  };
  return {
    async folder(suggestion) {
      const options = { message: "Which folder shall it be in?", placeholder: suggestion, defaultValue: suggestion };
      return answered(await text({ ...common, ...options, validate: (typed) => whyNot(typed ?? "") }));
    },
    async template(templates) {
      // A hint is shown for the choice under the cursor alone.
      const options = templates.map(({ name, description }) => ({ value: name, label: `${name}: ${description}` }));
      return answered(await select({ ...common, message: "Which template?", options }));
    },
    async isFine(question) {
      return answered(await confirm({ ...common, message: question, initialValue: false }));
    },
  };
}

/** A terminal that tells no size has 0 columns, and the questions would stand there one character a line. */
function assumeSize(stderr: Cli["stderr"]): void {
  if (stderr.columns === 0) stderr.columns = 80;
  if (stderr.rows === 0) stderr.rows = 24;
}

/** What is asked again at once: a file, or what may not be looked into. A folder with files in it is right for an add-on. */
function whyNot(folder: string): string | undefined {
  if (folder.trim() === "") return undefined;
  try {
    isTaken(resolve(folder));
    return undefined;
  } catch (error) {
    if (error instanceof CliError) return error.message;
    throw error;
  }
}
