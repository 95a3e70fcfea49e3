import type { JSX } from "preact";
import { problemText } from "./request.js";

/** Why something could not be loaded, with a button that tries again. Nothing when there is no problem. */
export function LoadProblem({ problem, onRetry }: { problem: unknown; onRetry: () => void }): JSX.Element | null {
  if (problem === undefined) return null;
  return (
    <p class="problem" role="alert">
      {problemText(problem)}{" "}
      <button type="button" onClick={onRetry}>
        Try again
      </button>
    </p>
  );
}
