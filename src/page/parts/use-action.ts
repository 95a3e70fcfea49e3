import { useState } from "preact/hooks";
import { type Said, useRoot } from "./page-root.js";
import { problemText } from "./request.js";

/**
 * Something that a reader starts. `start` says what came of it, or tells `onProblem`; it resolves
 * to whether it succeeded.
 */
export function useAction<Input extends unknown[]>(
  run: (...input: Input) => Promise<Said>,
  onProblem: (problem: string) => void,
): { isBusy: boolean; start: (...input: Input) => Promise<boolean> } {
  const { notify } = useRoot();
  const [isBusy, setBusy] = useState(false);
  async function start(...input: Input): Promise<boolean> {
    setBusy(true);
    try {
      notify(await run(...input));
      return true;
    } catch (error) {
      onProblem(problemText(error));
      return false;
    } finally {
      setBusy(false);
    }
  }
  return { isBusy, start };
}
