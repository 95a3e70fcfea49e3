/** How two processes of the bench communicate: a question by name, one answer to each. */

export interface Question {
  id: number;
  ask: string;
  with: unknown;
}

export type Reply = { id: number; value: unknown } | { id: number; failed: string };

/** Answers the parent's questions, and ends the process when the parent disconnects. */
export function answerQuestions(
  answers: Readonly<Record<string, (input: never) => unknown>>,
): void {
  process.on("message", (message) => {
    const { id, ask, with: input } = message as Question;
    const reply = (answer: Reply): void => void process.send?.(answer);
    const answer = async (): Promise<unknown> => {
      if (!Object.hasOwn(answers, ask)) throw new Error(`there is no answer to ${ask}`);
      return answers[ask]?.(input as never);
    };
    answer().then(
      (value) => reply({ id, value }),
      (error: unknown) =>
        reply({
          id,
          failed: error instanceof Error ? (error.stack ?? error.message) : String(error),
        }),
    );
  });
  process.once("disconnect", () => process.exit(0));
}
