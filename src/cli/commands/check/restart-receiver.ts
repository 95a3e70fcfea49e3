import { setTimeout as sleep } from "node:timers/promises";
import { throwIfInterrupted } from "../../options/define-command.js";
import { environmentError } from "../../options/exit.js";
import { sendDelivery } from "../../deliveries/send-delivery.js";
import type { CheckContext } from "./check-context.js";
import { runShellCommand } from "./shell-command.js";

const POLL_MS = 100;
const TRY_MS = 2000;
/** What a proxy says while nobody is behind it, or a receiver that has not started yet. */
const NOT_YET: ReadonlySet<number> = new Set([502, 503, 504]);

/**
 * Runs the command and waits until the address answers.
 *
 * @throws CliError when the command fails, or nothing answers in time
 */
export async function restartReceiver(command: string, context: CheckContext): Promise<void> {
  const { url, restartTimeoutMs: timeoutMs, env, signal } = context;
  const deadline = performance.now() + timeoutMs;
  const lateAdvice = "it must return while the receiver runs on";
  await runShellCommand(command, { option: "--restart-command", timeoutMs, lateAdvice, env, signal });
  // Unsigned, so that no receiver takes it for more than a knock at the door.
  const knock = { method: "POST", headers: [], body: Buffer.alloc(0), isChunked: false };
  for (;;) {
    const answer = await sendDelivery(url, knock, { timeoutMs: TRY_MS, signal });
    throwIfInterrupted(signal);
    if (answer.kind === "answer" && !NOT_YET.has(answer.status)) return;
    if (performance.now() > deadline) {
      throw environmentError(`nothing answers ${timeoutMs / 1000} s after --restart-command was begun`);
    }
    await sleep(POLL_MS);
  }
}
