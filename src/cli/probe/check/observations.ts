import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { environmentError } from "../../console/exit.js";
import { shortened } from "../../console/terminal.js";
import type { Exchange } from "../../deliveries/send-cases.js";
import {
  answerTimes,
  describeAnswer,
  describeTimes,
  isMarkedDuplicate,
  isRefusal,
  isSuccess,
  type Answer,
  type Answered,
  type AnswerTimes,
  type Hold,
  sendDelivery,
} from "../../deliveries/send-delivery.js";
import { probeOf, type CheckContext, type Observation, type Probe } from "./check-context.js";

/**
 * A check of answers sends these cases if earlier checks sent too few deliveries, or got no answer
 * that its rule applies to.
 */
const SAMPLE = ["new-signal", "verification", "signature-missing", "wrong-secret"];

/** @returns null for an exchange that the rule does not apply to */
type Rule = (exchange: Exchange, answer: Answered) => Probe | null;

export function checkUnauthorized(context: CheckContext): Promise<Observation> {
  return checkAnswers(context, (exchange, answer) => {
    const applies = exchange.delivery.expect.status === 401 && isRefusal(answer);
    return applies ? probeOf(exchange, "status") : null;
  });
}

export function checkContentType(context: CheckContext): Promise<Observation> {
  return checkAnswers(context, (exchange, { body, headers }) => {
    if (body === "") return null;
    const type = headers["content-type"] ?? "(none)";
    return {
      ...probeOf(exchange, "status"),
      expected: "Content-Type: application/json",
      actual: `Content-Type: ${type}`,
      ok: /^application\/json\b/i.test(type),
    };
  });
}

async function checkAnswers(context: CheckContext, rule: Rule): Promise<Observation> {
  const applyToAll = (): Probe[] =>
    context.exchanges.flatMap((exchange) => {
      const { answer } = exchange;
      return (answer.kind === "answer" && rule(exchange, answer)) || [];
    });
  if (context.exchanges.length < SAMPLE.length || applyToAll().length === 0) {
    for (const name of SAMPLE) await context.sendTimes(1, name);
  }
  const probes = applyToAll();
  if (probes.length === 0) return { probes, inconclusive: "no answer of this kind was received" };
  // Several checks may have sent the same case. Each case is reported once for each result.
  const distinct = new Map(probes.map((probe) => [`${probe.name} ${probe.ok}`, probe]));
  return { probes: [...distinct.values()], note: `${probes.length} answers` };
}

const LEAST_SAMPLES = 20;

/**
 * How long the acknowledgements took, without held requests, whose delay is intended; `null` if
 * nothing was acknowledged.
 */
export function acknowledgementTimes(exchanges: readonly Exchange[]): AnswerTimes | null {
  return answerTimes(
    exchanges.flatMap(({ answer, isHeld }) => (isHeld || !isSuccess(answer) ? [] : [answer.ms])),
  );
}

export async function checkAnswerTimes(context: CheckContext): Promise<Observation> {
  for (let sent = 0; sent < LEAST_SAMPLES; sent++) {
    if ((acknowledgementTimes(context.exchanges)?.count ?? 0) >= LEAST_SAMPLES) break;
    await context.sendTimes(1, "new-signal");
  }
  const times = acknowledgementTimes(context.exchanges);
  if (times === null) return { probes: [], inconclusive: "nothing was answered 2xx" };
  const probe = {
    name: "acknowledgements",
    sent: `${times.count} deliveries that were answered 2xx`,
    expected: `an answer within ${context.ackLimitMs} ms each`,
    actual: describeTimes(times),
    ok: times.maxMs <= context.ackLimitMs,
  };
  return { probes: [probe], note: `${times.count} acknowledgements: ${describeTimes(times)}` };
}

const CANNOT_TELL = 'its answers do not mark a repeated event with {"duplicate":true}';

const SIMULTANEOUS = 20;
/**
 * After this time the last bytes are sent even if some requests have no connection, because a
 * server may limit connections.
 */
const HOLD_MS = 1500;
/**
 * Requests are sent without their last byte. After this pause the receiver has read the rest, and
 * the last bytes are sent.
 */
const CONNECT_MS = 100;

export async function checkAcceptedOnce(context: CheckContext): Promise<Observation> {
  if (!(await context.marksDuplicates())) return { probes: [], inconclusive: CANNOT_TELL };
  const answers = await context.sendTimes(3, "repeated-signal");
  return { probes: [onceProbe("one signal 3 times, each time with a new signature", answers)] };
}

export async function checkSimultaneous(context: CheckContext): Promise<Observation> {
  const answers = await sendTogether(context);
  const sent = `one signal ${SIMULTANEOUS} times at the same time`;
  const acknowledged = acknowledgedProbe(sent, answers);
  // If the receiver is down, this delivery throws the error that says so. Otherwise it only refused
  // so many connections.
  if (answers.every(({ kind }) => kind === "unreachable")) await context.sendTimes(1, "new-signal");
  if (await context.marksDuplicates()) return { probes: [acknowledged, onceProbe(sent, answers)] };
  return { probes: [acknowledged], note: `only the status was checked: ${CANNOT_TELL}` };
}

export async function checkRestart(context: CheckContext): Promise<Observation> {
  if (context.restartCommand === undefined)
    return { probes: [], inconclusive: "--restart-command is not given" };
  if (!(await context.marksDuplicates())) return { probes: [], inconclusive: CANNOT_TELL };
  const built = context.build("repeated-signal");
  const { answer: first } = await context.send(built, 0);
  await restartReceiver(context.restartCommand, context);
  const { answer: second } = await context.send(built, 1);
  const sent = "one signal, a restart, and the same signal again";
  const acknowledged = acknowledgedProbe(sent, [first, second]);
  const accepted = acknowledged.ok ? [onceProbe(sent, [first, second])] : [];
  return { probes: [acknowledged, ...accepted] };
}

export async function checkDuplicatesMarked(context: CheckContext): Promise<Observation> {
  const answers = await context.sendTimes(2, "repeated-test-event");
  const probe: Probe = {
    name: "repeated-test-event",
    sent: "one test event twice",
    expected: '{"duplicate":true} only in the second answer',
    actual: answers.map((answer) => describeAnswer(answer, true)).join(", then "),
    ok: answers.map(isMarkedDuplicate).join() === "false,true",
  };
  return { probes: [probe] };
}

function acknowledgedProbe(sent: string, answers: readonly Answer[]): Probe {
  const bad = answers.filter((answer) => !isSuccess(answer));
  const actual =
    bad[0] === undefined
      ? "2xx each"
      : `${bad.length} of ${answers.length}: ${describeAnswer(bad[0], true)}`;
  return { name: "acknowledged", sent, expected: "2xx each", actual, ok: bad.length === 0 };
}

function onceProbe(sent: string, answers: readonly Answer[]): Probe {
  const times = answers.filter((answer) => isSuccess(answer) && !isMarkedDuplicate(answer)).length;
  return {
    name: "accepted-once",
    sent,
    expected: "accepted once",
    actual: `accepted ${times} ×`,
    ok: times === 1,
  };
}

/**
 * Sends one event on many connections. All last bytes are sent together, so the receiver handles
 * the requests simultaneously.
 */
async function sendTogether(context: CheckContext): Promise<Answer[]> {
  const built = context.build("repeated-signal");
  const hold = holdUntil(SIMULTANEOUS);
  const sent = Array.from({ length: SIMULTANEOUS }, (_, index) => context.send(built, index, hold));
  return (await Promise.all(sent)).map(({ answer }) => answer);
}

function holdUntil(count: number): Hold {
  let open!: () => void;
  const release = new Promise<void>((resolve) => {
    open = resolve;
  });
  const timer = setTimeout(open, HOLD_MS);
  let held = 0;
  return {
    onHeld() {
      held += 1;
      if (held < count) return;
      clearTimeout(timer);
      setTimeout(open, CONNECT_MS);
    },
    release,
  };
}

const TRY_MS = 2000;
const POLL_MS = 100;
/**
 * Answers of a proxy whose receiver is down, and of a receiver that has not started yet: the
 * restart is not complete.
 */
const NOT_READY: ReadonlySet<number> = new Set([502, 503, 504]);

/** @throws CliError when the command fails, or the receiver does not answer in time */
async function restartReceiver(command: string, context: CheckContext): Promise<void> {
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
