import { echoed, printable } from "../../../console/printable.js";
import type { PlannedFile } from "../write-files.js";
import type { App } from "./detect-app.js";
import type { LinesToAdd } from "./lines-to-add.js";

/** New files for an app, and the lines that the user adds by hand. */
export interface AddOnPlan {
  files: readonly PlannedFile[];
  /** The text to print after the files are written, line by line. */
  nextSteps: readonly string[];
  app: Pick<App, "language" | "modules" | "testRunner" | "packageManager">;
  edits: readonly LinesToAdd[];
  /** Commands to type in the app's folder. `cd` changes into it; `null` if it is the current folder. */
  commands: {
    cd: string | null;
    install: readonly string[];
    test: string;
    secret: string;
    send: string;
    register: string;
  };
  environment: readonly { name: string; value: string; what: string }[];
  notes: readonly string[];
}

const PURPOSES: Readonly<Record<LinesToAdd["purpose"], string>> = {
  import: "Import the receiver",
  mount: "Mount the receiver in front of all body parsers, because the signature covers the exact bytes that were sent",
  start: "Start the receiver where your app starts to listen",
  close: "Close the receiver where your app handles SIGTERM, and where it handles SIGINT",
};

/** The next steps of the user, as lines to print. */
export function describeAddOn(plan: Omit<AddOnPlan, "nextSteps">): string[] {
  const { cd, install, test, secret, send, register } = plan.commands;
  const steps = [
    ...(cd === null ? [] : [["Change into the app's folder; all following commands run there:", ...typed([cd])]]),
    ...(install.length === 0 ? [] : [["Install what the new files import:", ...typed(install)]]),
    ...plan.edits.map((edit) => [`${PURPOSES[edit.purpose]}; ${whereOf(edit)}:`, ...code(edit.lines)]),
    [
      "Where a deployment replaces the app's folder, set these variables to files that it keeps. The defaults are:",
      ...code(plan.environment.map(({ name, value, what }) => `${name}=${value}   # ${what}`)),
    ],
    ["Run the receiver's test:", ...typed([test])],
    ["Make a secret for a trial, start the app, and send it a signal; use its port:", ...typed([secret, send])],
    [
      "Register the deployed app at the service, in its folder and with its public address. This adds the secrets:",
      ...typed([register]),
    ],
  ];
  return [
    "Your files were not changed. The next steps are done by hand; line numbers refer to your files as they are now:",
    ...steps.flatMap(([title = "", ...lines], index) => ["", `${index + 1}. ${title}`, ...lines]),
    ...plan.notes.flatMap((note) => ["", note]),
  ];
}

/** Commands, marked as the terminal expects it. */
function typed(commands: readonly string[]): string[] {
  return code(commands.map((command) => `$ ${command}`));
}

function code(lines: readonly string[]): string[] {
  // `printable` would escape tabs, so the indentation is not passed to it.
  return lines.map((line) => `     ${/^\s*/.exec(line)?.[0] ?? ""}${printable(line.trimStart())}`);
}

function whereOf({ file, line, place, at }: LinesToAdd): string {
  if (file === null) return "in the file of your app where it belongs";
  return `${echoed(file)}, ${place} line ${line} (${echoed(at ?? "")})`;
}
