import type { Terminal } from "../../console/terminal.js";

/** Prints the steps of the story as they come. */
export interface StoryReport {
  add(step: string, isOk: boolean, text: string): void;
  /** All so far went as it should. */
  readonly isTrue: boolean;
}

export function reportStory(terminal: Terminal, asJson: boolean): StoryReport {
  const { paint } = terminal;
  let isTrue = true;
  let isFirst = true;
  return {
    add(step, isOk, text) {
      isTrue &&= isOk;
      if (asJson) return terminal.printJson({ step, text, ok: isOk });
      if (isFirst) terminal.print("");
      isFirst = false;
      const verdict = isOk ? paint.green("ok") : paint.red("FAILED");
      terminal.print(`${paint.bold(step.padEnd(9))}  ${text}  ${verdict}`);
    },
    get isTrue() {
      return isTrue;
    },
  };
}
