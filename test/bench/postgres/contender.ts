// A process with one contender, which handles events when it is asked to.
import { answerQuestions } from "../processes/questions.js";
import { OPEN_CONTENDER, type ContenderName } from "./contenders.js";

export interface ContenderSpec {
  name: ContenderName;
  url: string;
}

export interface Handled {
  events: number;
  cpuMs: number;
  elapsedMs: number;
  /** Of each commit; empty for contenders without. */
  commitMs: number[];
}

const { name, url } = JSON.parse(process.argv[2] ?? "{}") as ContenderSpec;
const opening = OPEN_CONTENDER[name](url);

answerQuestions(
  new Map<string, (input: never) => unknown>([
    [
      "handle",
      async ({ from, ms }: { from: number; ms: number }): Promise<Handled> => {
        const contender = await opening;
        const cpuBefore = process.cpuUsage();
        const startedAt = performance.now();
        const events = await contender.handle(from, ms);
        const elapsedMs = performance.now() - startedAt;
        const { user, system } = process.cpuUsage(cpuBefore);
        return {
          events,
          cpuMs: (user + system) / 1000,
          elapsedMs,
          commitMs: contender.commitMs?.splice(0) ?? [],
        };
      },
    ],
    ["close", async () => (await opening).close()],
  ]),
);
