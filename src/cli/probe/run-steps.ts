/** A step of `check` or `doctor`: what it asks of a receiver and concludes from the answers. */
export interface Step {
  /** It never changes, because programs may branch on it. */
  id: string;
  /** Ids of earlier steps. If one of them is blocked, this step would fail for the same reason. */
  needs?: readonly string[];
}

/**
 * Runs the steps in their order.
 *
 * @param run is given what blocks an earlier step that this one needs, and then skips this one. It
 * returns the result, and what blocks the steps that need this one: null for nothing
 * @throws what `run` throws
 */
export async function runSteps<Each extends Step, Result>(
  steps: readonly Each[],
  run: (step: Each, cause: string | undefined) => Promise<readonly [Result, string | null]>,
  onResult: (result: Result) => void,
): Promise<Result[]> {
  const blocked = new Map<string, string>();
  const results: Result[] = [];
  for (const step of steps) {
    const causes = step.needs?.flatMap((id) => blocked.get(id) ?? []);
    const [result, blocker] = await run(step, causes?.[0]);
    if (blocker !== null) blocked.set(step.id, blocker);
    results.push(result);
    onResult(result);
  }
  return results;
}
