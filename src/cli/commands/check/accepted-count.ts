import { setTimeout as sleep } from "node:timers/promises";
import { throwIfInterrupted } from "../../options/define-command.js";
import { environmentError } from "../../options/exit.js";
import { echoed } from "../../console/printable.js";
import type { Answer } from "../../deliveries/send-delivery.js";
import type { CheckContext } from "./check-context.js";
import { isSuccess, tellsDuplicate } from "./judge-answer.js";
import { runShellCommand } from "./shell-command.js";

/** A receiver may count what it accepted a little after it answered. */
const SETTLE_MS = 3000;
const POLL_MS = 100;

/** What `--accepted-command` prints; `null` without it. */
export async function readAcceptedCount(context: CheckContext): Promise<number | null> {
  const { acceptedCommand, timeoutMs, env, signal } = context;
  if (acceptedCommand === undefined) return null;
  const option = "--accepted-command";
  const how = { option, timeoutMs, lateAdvice: "it must print a number and end", env, signal };
  const printed = (await runShellCommand(acceptedCommand, how)).trim();
  if (/^\d{1,15}$/.test(printed)) return Number(printed);
  throw environmentError(
    `${option} must print how many events were accepted, a whole number; it printed ${echoed(printed)}`,
  );
}

export interface Taken {
  times: number;
  /** How that is known. */
  by: string;
}

/**
 * How often an event was accepted that was sent several times: by the count, which is sure, or by what the answers say
 * of themselves. `null` when neither tells.
 */
export async function timesTaken(
  answers: readonly Answer[],
  countBefore: number | null,
  context: CheckContext,
): Promise<Taken | null> {
  if (countBefore !== null) return { times: await countSince(countBefore, context), by: "--accepted-command" };
  if (!(await context.tellsRepeats())) return null;
  const firsts = answers.filter((answer) => isSuccess(answer) && !tellsDuplicate(answer));
  return { times: firsts.length, by: "the answers without duplicate" };
}

async function countSince(before: number, context: CheckContext): Promise<number> {
  const deadline = performance.now() + SETTLE_MS;
  let last = 0;
  for (;;) {
    const since = ((await readAcceptedCount(context)) ?? before) - before;
    throwIfInterrupted(context.signal);
    // Twice the same: a second acceptance may be counted a little after the first.
    if ((since >= 1 && since === last) || performance.now() > deadline) return since;
    last = since;
    await sleep(POLL_MS);
  }
}

/** What is said where nobody can tell. */
export const CANNOT_TELL =
  'its answers do not tell a repeat ({"duplicate":true} would), and there is no --accepted-command';
