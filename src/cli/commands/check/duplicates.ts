import { EventEmitter, once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { echoed } from "../../console/printable.js";
import { describeAnswer, isSuccess, type Answer } from "../../deliveries/answer.js";
import { sendDelivery, type Hold } from "../../deliveries/send-delivery.js";
import { throwIfInterrupted } from "../../options/define-command.js";
import { environmentError } from "../../options/exit.js";
import { sendTimes, isMarkedDuplicate } from "./check-context.js";
import type { CheckContext, Observation, Probe } from "./check.js";
import { runShellCommand } from "./shell-command.js";

const CANNOT_TELL =
  'its answers do not mark a repeated event with {"duplicate":true}, and --accepted-command is not given';

const SIMULTANEOUS = 20;
/** After this time the last bytes are sent even if some requests have no connection, because a server may limit connections. */
const HOLD_MS = 1500;
/** Requests are sent without their last byte. After this pause the receiver has read the rest, and the last bytes are sent. */
const CONNECT_MS = 100;

export async function checkAcceptedOnce(context: CheckContext): Promise<Observation> {
  const before = await readAcceptedCount(context);
  const answers = await sendTimes(3, "repeated-signal", context);
  const accepted = await timesAccepted(answers, before, context);
  if (accepted === null) return { probes: [], inconclusive: CANNOT_TELL };
  return { probes: [onceProbe(`one signal ${answers.length} times, each time with a new signature`, accepted)] };
}

export async function checkSimultaneous(context: CheckContext): Promise<Observation> {
  const before = await readAcceptedCount(context);
  const answers = await sendTogether(context);
  const sent = `one signal ${SIMULTANEOUS} times at the same time`;
  const acknowledged = acknowledgedProbe(sent, answers);
  // If the receiver is down, this delivery throws the error that says so. Otherwise it only refused so many connections.
  if (answers.every(({ kind }) => kind === "unreachable")) await context.send(context.build("new-signal"), 0);
  const accepted = await timesAccepted(answers, before, context);
  if (accepted === null) return { probes: [acknowledged], note: `only the status was checked: ${CANNOT_TELL}` };
  return { probes: [acknowledged, onceProbe(sent, accepted)] };
}

export async function checkRestart(context: CheckContext): Promise<Observation> {
  if (context.restartCommand === undefined) return { probes: [], inconclusive: "--restart-command is not given" };
  const before = await readAcceptedCount(context);
  if (before === null && !(await context.marksDuplicates())) return { probes: [], inconclusive: CANNOT_TELL };
  const built = context.build("repeated-signal");
  const { answer: first } = await context.send(built, 0);
  const atStop = before === null ? null : before + (await countSince(before, context));
  await restartReceiver(context.restartCommand, context);
  const atStart = await readAcceptedCount(context);
  const { answer: second } = await context.send(built, 1);
  const sent = "one signal, a restart, and the same signal again";
  const acknowledged = acknowledgedProbe(sent, [first, second]);
  if (!acknowledged.ok) return { probes: [acknowledged] };
  if (atStop !== null && atStart !== null && atStart < atStop) {
    const actual = `the count fell from ${atStop} to ${atStart}: events that were accepted before the restart are lost`;
    return { probes: [acknowledged, { name: "kept", sent, expected: "the same count after it", actual, ok: false }] };
  }
  const accepted = await timesAccepted([first, second], before, context);
  return { probes: [acknowledged, ...(accepted === null ? [] : [onceProbe(sent, accepted)])] };
}

export async function checkDuplicatesMarked(context: CheckContext): Promise<Observation> {
  const [first, second] = (await sendTimes(2, "repeated-test-event", context)) as [Answer, Answer];
  const probe: Probe = {
    name: "repeated-test-event",
    sent: "one test event twice",
    expected: '{"duplicate":true} only in the second answer',
    actual: `${describeAnswer(first, true)}, then ${describeAnswer(second, true)}`,
    ok: !isMarkedDuplicate(first) && isMarkedDuplicate(second),
  };
  return { probes: [probe] };
}

function acknowledgedProbe(sent: string, answers: readonly Answer[]): Probe {
  const bad = answers.filter((answer) => !isSuccess(answer));
  const actual =
    bad[0] === undefined ? "2xx each" : `${bad.length} of ${answers.length}: ${describeAnswer(bad[0], true)}`;
  return { name: "acknowledged", sent, expected: "2xx each", actual, ok: bad.length === 0 };
}

function onceProbe(sent: string, times: number): Probe {
  return { name: "accepted-once", sent, expected: "accepted once", actual: `accepted ${times} ×`, ok: times === 1 };
}

/** Sends one event on many connections. All last bytes are sent together, so the receiver handles the requests simultaneously. */
async function sendTogether(context: CheckContext): Promise<Answer[]> {
  const built = context.build("repeated-signal");
  const hold = holdUntil(SIMULTANEOUS);
  const sent = Array.from({ length: SIMULTANEOUS }, (_, index) => context.send(built, index, hold));
  return (await Promise.all(sent)).map(({ answer }) => answer);
}

function holdUntil(count: number): Hold {
  const gate = new EventEmitter();
  const timer = setTimeout(() => gate.emit("open"), HOLD_MS);
  let held = 0;
  return {
    onHeld() {
      held += 1;
      if (held < count) return;
      clearTimeout(timer);
      setTimeout(() => gate.emit("open"), CONNECT_MS);
    },
    release: once(gate, "open"),
  };
}

/** A receiver may count an event a little after it answered, so the count is read again until this time has passed. */
const SETTLE_MS = 3000;
const POLL_MS = 100;

/** The number that `--accepted-command` prints; `null` if that option is not given. */
async function readAcceptedCount(context: CheckContext): Promise<number | null> {
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

/**
 * How often an event that was sent several times was accepted: the count of `--accepted-command` tells it if that option is
 * given, otherwise the answers. `null` when neither tells it, because the answers do not mark duplicates.
 */
async function timesAccepted(
  answers: readonly Answer[],
  countBefore: number | null,
  context: CheckContext,
): Promise<number | null> {
  if (countBefore !== null) return countSince(countBefore, context);
  if (!(await context.marksDuplicates())) return null;
  return answers.filter((answer) => isSuccess(answer) && !isMarkedDuplicate(answer)).length;
}

async function countSince(before: number, context: CheckContext): Promise<number> {
  const deadline = performance.now() + SETTLE_MS;
  let last = 0;
  for (;;) {
    const since = ((await readAcceptedCount(context)) ?? before) - before;
    throwIfInterrupted(context.signal);
    // Waits until two counts are equal, because a second acceptance may be counted a little after the first.
    if ((since >= 1 && since === last) || performance.now() > deadline) return since;
    last = since;
    await sleep(POLL_MS);
  }
}

const TRY_MS = 2000;
/** Answers of a proxy whose receiver is down, and of a receiver that has not started yet: the restart is not complete. */
const NOT_READY: ReadonlySet<number> = new Set([502, 503, 504]);

/**
 * Runs the user's restart command and waits until the receiver answers again.
 *
 * @throws CliError when the command fails, or the receiver does not answer in time
 */
async function restartReceiver(command: string, context: CheckContext): Promise<void> {
  const { url, restartTimeoutMs: timeoutMs, env, signal } = context;
  const deadline = performance.now() + timeoutMs;
  const lateAdvice = "it must leave the receiver running and end";
  await runShellCommand(command, { option: "--restart-command", timeoutMs, lateAdvice, env, signal });
  // This delivery has no signature, so that no receiver accepts it.
  const unsigned = { method: "POST", headers: [], body: Buffer.alloc(0), isChunked: false };
  for (;;) {
    const answer = await sendDelivery(url, unsigned, { timeoutMs: TRY_MS, signal, secrets: [] });
    if (answer.kind === "answer" && !NOT_READY.has(answer.status)) return;
    if (performance.now() > deadline) {
      throw environmentError(`the receiver did not answer within ${timeoutMs / 1000} s of --restart-command`);
    }
    await sleep(POLL_MS);
  }
}
