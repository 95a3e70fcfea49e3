import { echoed, printable } from "../../../console/printable.js";
import type { PlannedFile } from "../write-files.js";
import type { App } from "./detect-app.js";
import type { LinesToAdd } from "./lines-to-add.js";

/** New files for an app, and the lines that its owner adds by hand. */
export interface AddOnPlan {
  files: readonly PlannedFile[];
  /** Lines to print when the files are written. */
  nextSteps: readonly string[];
  app: Pick<App, "language" | "modules" | "expressMajor" | "testRunner" | "packageManager">;
  edits: readonly LinesToAdd[];
  /** To type in the app's folder. `cd` goes there; `null` if it is the current one. */
  commands: { cd: string | null; install: readonly string[]; test: string; send: string };
  environment: readonly { name: string; value: string; what: string }[];
  notes: readonly string[];
}

const PURPOSES: Readonly<Record<LinesToAdd["purpose"], string>> = {
  import: "Import it",
  mount: "Mount it before anything that reads bodies: the signature covers the bytes as they were sent",
  start: "Start it where your app starts to listen",
  close: "Close it when the process ends, at each signal that your app handles",
};

/** What the user does next, in lines to print. */
export function describeAddOn(plan: Omit<AddOnPlan, "nextSteps">): string[] {
  const { cd, install, test, send } = plan.commands;
  const steps = [
    ...(cd === null ? [] : [["Go to the app's folder, where all of this is done:", ...code([cd])]]),
    ...(install.length === 0 ? [] : [["Install what the new files import:", ...code(install)]]),
    ...plan.edits.map((edit) => [`${PURPOSES[edit.purpose]}; ${whereOf(edit)}:`, ...code(edit.lines)]),
    [
      "Set in the app's environment:",
      ...code(plan.environment.map(({ name, value, what }) => `${name}=${value}   # ${what}`)),
    ],
    ["Run its test:", ...code([test])],
    ["Start the app, and send it a signal (with its port, and the same SIGNALS_SECRET):", ...code([send])],
  ];
  return [
    "None of your files was changed. Do the rest by hand; line numbers are those of your files as they are now:",
    ...steps.flatMap(([title = "", ...lines], index) => ["", `${index + 1}. ${title}`, ...lines]),
    ...plan.notes.flatMap((note) => ["", note]),
  ];
}

function code(lines: readonly string[]): string[] {
  // An app may be indented with tabs.
  return lines.map((line) => `     ${/^\s*/.exec(line)?.[0] ?? ""}${printable(line.trimStart())}`);
}

function whereOf({ file, line, place, at }: LinesToAdd): string {
  if (file === null) return "in the file where your app does so";
  if (line === null) return `in ${echoed(file)}`;
  return `${echoed(file)}, ${place ?? "at"} line ${line} (${echoed(at ?? "")})`;
}
