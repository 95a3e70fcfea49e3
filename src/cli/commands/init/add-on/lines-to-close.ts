import type { Shutdown } from "./find-shutdowns.js";

/** For an app that lets itself be ended by a signal without a word. */
export function linesToEnd(closing: string): string[] {
  return [
    'process.once("SIGTERM", () => {',
    `  ${closing}.then(`,
    "    () => process.exit(0),",
    "    () => process.exit(1),",
    "  );",
    "});",
  ];
}

/** For the function that the app has for it: `await` would be a syntax error where it is not async. */
export function linesInside({ isAsync, exits }: Shutdown, closing: string): string[] {
  return isAsync ? [`await ${closing};`] : linesBefore(exits, closing);
}

function linesBefore(exits: boolean, closing: string): string[] {
  if (!exits) return [`${closing}.catch(console.error);`];
  return [
    `${closing}.catch(console.error).then(() => {`,
    "  // Move what ends the process here: process.exit() waits for nothing.",
    "});",
  ];
}

/** Beside a listener of the app that has no room for a line. */
export function linesBeside({ signals, exits }: Shutdown, closing: string): string[] {
  const lines = linesBefore(exits, closing).map((line) => `  ${line}`);
  return signals.flatMap((name) => [`process.once("${name}", () => {`, ...lines, "});"]);
}
