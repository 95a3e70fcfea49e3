/** How two of the bench's processes talk: a question by name, one answer to each. */

export interface Question {
  id: number;
  ask: string;
  with: unknown;
}

export type Reply = { id: number; value: unknown } | { id: number; failed: string };

/** Answers the parent's questions until it hangs up; then there is nothing left to live for. */
export function answerQuestions(answers: ReadonlyMap<string, (input: never) => unknown>): void {
  process.on("message", (message) => {
    const { id, ask, with: input } = message as Question;
    const reply = (answer: Reply): void => void process.send?.(answer);
    Promise.resolve()
      .then(() => {
        const answer = answers.get(ask);
        if (answer === undefined) throw new Error(`nobody answers ${ask}`);
        return answer(input as never);
      })
      .then(
        (value) => reply({ id, value }),
        (error: unknown) =>
          reply({ id, failed: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
      );
  });
  process.once("disconnect", () => process.exit(0));
}
