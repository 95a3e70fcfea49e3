import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { shortened } from "../../console/printable.js";
import { sendDelivery } from "../../deliveries/send-delivery.js";
import { environmentError } from "../../console/exit.js";
import type { CheckContext } from "./check-context.js";

const TRY_MS = 2000;
const POLL_MS = 100;
/**
 * Answers of a proxy whose receiver is down, and of a receiver that has not started yet: the
 * restart is not complete.
 */
const NOT_READY: ReadonlySet<number> = new Set([502, 503, 504]);

/** @throws CliError when the command fails, or the receiver does not answer in time */
export async function restartReceiver(command: string, context: CheckContext): Promise<void> {
  const { restartTimeoutMs } = context;
  const deadline = performance.now() + restartTimeoutMs;
  await runShellCommand(command, context);
  // This delivery has no signature, so that no receiver accepts it.
  const unsigned = { headers: {}, body: Buffer.alloc(0) };
  for (;;) {
    const answer = await sendDelivery({ ...context, timeoutMs: TRY_MS }, unsigned);
    if (answer.kind === "answer" && !NOT_READY.has(answer.status)) return;
    if (performance.now() > deadline) {
      throw environmentError(
        `the receiver did not answer within ${restartTimeoutMs / 1000} s of --restart-command`,
      );
    }
    await sleep(POLL_MS);
  }
}

/**
 * The errors go into a file. A receiver that the command starts keeps its output open, so with a
 * pipe this process would wait until that receiver ends.
 *
 * @throws CliError when the command fails, or does not end in time
 */
async function runShellCommand(command: string, context: CheckContext): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-check-"));
  const path = join(folder, "stderr");
  const stderr = openSync(path, "w");
  try {
    // `detached` starts a new process group, so that endGroup ends all processes of the command.
    const child = spawn(command, {
      shell: true,
      detached: true,
      stdio: ["ignore", "ignore", stderr],
      env: context.env,
    });
    const failure = await failureOf(child, context);
    context.signal.throwIfAborted();
    if (failure === null) return;
    const lastLine = shortened(readFileSync(path, "utf8").trim().split("\n").at(-1) ?? "", 200);
    throw environmentError(`--restart-command ${failure}${lastLine === "" ? "" : `: ${lastLine}`}`);
  } finally {
    closeSync(stderr);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @returns why the command failed; null if it succeeded */
async function failureOf(
  child: ChildProcess,
  { restartTimeoutMs, signal }: CheckContext,
): Promise<string | null> {
  const late = AbortSignal.timeout(restartTimeoutMs);
  try {
    const ending = once(child, "exit", { signal: AbortSignal.any([signal, late]) });
    const [code, killedBy] = (await ending) as [number | null, string | null];
    return code === 0 ? null : `ended with ${code ?? killedBy ?? "an error"}`;
  } catch (error) {
    if (!signal.aborted && !late.aborted)
      return `could not be started (${(error as Error).message})`;
    endGroup(child);
    return `did not end within ${restartTimeoutMs / 1000} s: it must leave the receiver running and end`;
  } finally {
    // A command that ignores SIGTERM must not keep this process running.
    child.unref();
  }
}

function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGTERM");
  } catch {
    // The process group has ended already.
  }
}
