import { formatTable } from "../../console/table.js";
import type { Terminal } from "../../console/terminal.js";

export type Report = (step: string, ok: boolean, text: string) => void;

export function reportSteps(
  { paint, print, printJson }: Terminal,
  json: boolean,
  failed: string[],
): Report {
  return (step, ok, text) => {
    if (!ok) failed.push(step);
    if (json) return printJson({ step, text, ok });
    const verdict = ok ? paint.green("ok") : paint.red("FAILED");
    formatTable([[verdict, paint.bold(step), text]], [0, 9]).forEach(print);
  };
}

/** @param keys the delivery key of each hand-off */
export function reportHandOffs(keys: readonly string[], events: number, report: Report): void {
  const isOnce = keys.length === events && new Set(keys).size === events;
  report(
    "callback",
    isOnce,
    `${keys.length} hand-offs of ${events} events${isOnce ? ", each once" : ""}`,
  );
}
