import type { Cli } from "../../console/cli.js";
import { EXIT, type ExitCode } from "../../options/exit.js";
import { shellQuote } from "../../console/shell-quote.js";
import type { Choices } from "./choose.js";
import type { PackageManager } from "./package-manager.js";
import { givenSignalbox, runningSignalbox } from "./signalbox-spec.js";
import type { AddOnTemplate } from "./templates.js";
import { writeFiles } from "./write-files.js";

export interface AddToAppOptions {
  into?: string;
  packageManager?: PackageManager;
  signalbox?: string;
  json?: true;
}

/** Writes an add-on's files, and prints what is to be done by hand. */
export async function addToApp(
  { template, directory, replace }: Choices & { template: AddOnTemplate },
  { into, packageManager, signalbox, json }: AddToAppOptions,
  { terminal }: Cli,
): Promise<ExitCode> {
  const install = whatToInstall(signalbox, directory);
  const plan = await template.plan(directory, { into, force: replace, packageManager, signalbox: install });
  const replaced = writeFiles(directory, plan.files, { replace });
  const files = plan.files.map(({ path }) => path);
  if (json) terminal.printJson({ template: template.name, directory, ...plan, files, replaced });
  else {
    terminal.note(terminal.notePaint.dim(`wrote ${files.join(", ")}`));
    for (const line of plan.nextSteps) terminal.print(line);
  }
  return EXIT.ok;
}

/** For a package manager's command line. One that runs from a tarball or a folder may be in no registry. */
function whatToInstall(given: string | undefined, directory: string): string {
  const spec = given === undefined ? runningSignalbox(directory) : givenSignalbox(given, directory);
  if (spec.startsWith("file:")) return shellQuote(spec);
  return given === undefined ? "signalbox" : shellQuote(`signalbox@${spec}`);
}
