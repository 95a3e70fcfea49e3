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
  'its answers do not mark a repeated event ({"duplicate":true} would), and there is no --accepted-command';

const SIMULTANEOUS = 20;
/** A server that takes few connections at a time leaves the others waiting. They are released after this time. */
const HOLD_MS = 1500;
/** Time for the receiver to take the connections, so that it gets all the last bytes at once. */
const CONNECT_MS = 100;

/** One event three times, one after the other. */
export async function checkAcceptedOnce(context: CheckContext): Promise<Observation> {
  const before = await readAcceptedCount(context);
  const answers = await sendTimes(3, "repeated-signal", context);
  const accepted = await timesAccepted(answers, before, context);
  if (accepted === null) return { probes: [], unseen: CANNOT_TELL };
  return { probes: [onceProbe(`one signal ${answers.length} times, each time with a new signature`, accepted)] };
}

/** One event twenty times in the same moment. */
export async function checkSimultaneous(context: CheckContext): Promise<Observation> {
  const before = await readAcceptedCount(context);
  const answers = await sendTogether(context);
  const sent = `one signal ${SIMULTANEOUS} times at once`;
  const bad = answers.filter((answer): boolean => !isSuccess(answer));
  const acknowledged: Probe = {
    name: "acknowledged",
    sent,
    expected: "2xx each",
    came: bad[0] === undefined ? "2xx each" : `${bad.length} × other, such as ${describeAnswer(bad[0], true)}`,
    ok: bad.length === 0,
  };
  // No connection at all: the receiver went away, and the next delivery says so.
  if (answers.every(({ kind }) => kind === "unreachable")) await context.send(context.build("new-signal"), 0);
  const accepted = await timesAccepted(answers, before, context);
  if (accepted === null) return { probes: [acknowledged], note: `only the status was checked: ${CANNOT_TELL}` };
  return { probes: [acknowledged, onceProbe(sent, accepted)] };
}

/** One event before and after the receiver was restarted. */
export async function checkRestart(context: CheckContext): Promise<Observation> {
  if (context.restartCommand === undefined) return { probes: [], unseen: "give --restart-command to see it" };
  const isMarking = await context.marksDuplicates();
  const before = await readAcceptedCount(context);
  const built = context.build("repeated-signal");
  const { answer: first } = await context.send(built, 0);
  if (before !== null) await timesAccepted([first], before, context);
  const standing = await readAcceptedCount(context);
  await restartReceiver(context.restartCommand, context);
  const left = await readAcceptedCount(context);
  const { answer: second } = await context.send(built, 1);
  const sent = "one signal, a restart, and the same signal again";
  const acknowledged: Probe = {
    name: "acknowledged",
    sent,
    expected: "2xx both times",
    came: `${describeAnswer(first, true)}, then ${describeAnswer(second, true)}`,
    ok: isSuccess(first) && isSuccess(second),
  };
  if (!acknowledged.ok) return { probes: [acknowledged] };
  if (standing !== null && left !== null && left < standing) {
    const came = `the count fell from ${standing} to ${left}: what was accepted before the restart is gone`;
    return { probes: [acknowledged, { name: "kept", sent, expected: "the same count after it", came, ok: false }] };
  }
  if (before === null && !isMarking) return { probes: [], unseen: CANNOT_TELL };
  const accepted = await timesAccepted([first, second], before, context);
  return { probes: [acknowledged, ...(accepted === null ? [] : [onceProbe(sent, accepted)])] };
}

/** Whether the answer marks an event that was known already. */
export async function checkDuplicatesMarked(context: CheckContext): Promise<Observation> {
  const [first, second] = (await sendTimes(2, "repeated-test-event", context)) as [Answer, Answer];
  const probe: Probe = {
    name: "repeated-test-event",
    sent: "one test event twice",
    expected: '{"duplicate":true} only in the second answer',
    came: `${describeAnswer(first, true)}, then ${describeAnswer(second, true)}`,
    ok: !isMarkedDuplicate(first) && isMarkedDuplicate(second),
  };
  return { probes: [probe] };
}

function onceProbe(sent: string, { times, by }: Acceptance): Probe {
  return {
    name: "accepted-once",
    sent,
    expected: "accepted once",
    came: `accepted ${times} × (by ${by})`,
    ok: times === 1,
  };
}

/** Each delivery has its own connection. All are sent except their last bytes, which then go out together. */
async function sendTogether(context: CheckContext): Promise<Answer[]> {
  const built = context.build("repeated-signal");
  const hold = holdUntil(SIMULTANEOUS);
  const sent = Array.from({ length: SIMULTANEOUS }, (_, index) => context.send(built, index, hold));
  return (await Promise.all(sent)).map(({ answer }) => answer);
}

function holdUntil(count: number): Hold {
  const gate = new AbortController();
  const timer = setTimeout(() => gate.abort(), HOLD_MS);
  let held = 0;
  return {
    onHeld() {
      held += 1;
      if (held === count) setTimeout(() => gate.abort(), CONNECT_MS);
    },
    release: new Promise((resolve) => {
      gate.signal.addEventListener("abort", () => {
        clearTimeout(timer);
        resolve();
      });
    }),
  };
}

/** A receiver may count what it accepted a little after it answered. */
const SETTLE_MS = 3000;
const POLL_MS = 100;

/** The number that `--accepted-command` prints; `null` without it. */
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

interface Acceptance {
  times: number;
  /** How that is known. */
  by: string;
}

/**
 * How often an event that was sent several times was accepted: by the count, which is sure, or else by the answers. `null` when
 * neither shows it.
 */
async function timesAccepted(
  answers: readonly Answer[],
  countBefore: number | null,
  context: CheckContext,
): Promise<Acceptance | null> {
  if (countBefore !== null) return { times: await countSince(countBefore, context), by: "--accepted-command" };
  if (!(await context.marksDuplicates())) return null;
  const firsts = answers.filter((answer) => isSuccess(answer) && !isMarkedDuplicate(answer));
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

const TRY_MS = 2000;
/** The answer of a proxy without its receiver, or of a receiver that has not started yet. */
const NOT_YET: ReadonlySet<number> = new Set([502, 503, 504]);

/**
 * Runs the command and waits until the address answers.
 *
 * @throws CliError when the command fails, or nothing answers in time
 */
async function restartReceiver(command: string, context: CheckContext): Promise<void> {
  const { url, restartTimeoutMs: timeoutMs, env, signal } = context;
  const deadline = performance.now() + timeoutMs;
  const lateAdvice = "it must return while the receiver runs on";
  await runShellCommand(command, { option: "--restart-command", timeoutMs, lateAdvice, env, signal });
  // Without a signature, so that no receiver accepts it.
  const unsigned = { method: "POST", headers: [], body: Buffer.alloc(0), isChunked: false };
  for (;;) {
    const answer = await sendDelivery(url, unsigned, { timeoutMs: TRY_MS, signal, secrets: [] });
    if (answer.kind === "answer" && !NOT_YET.has(answer.status)) return;
    if (performance.now() > deadline) {
      throw environmentError(`nothing answers ${timeoutMs / 1000} s after --restart-command was begun`);
    }
    await sleep(POLL_MS);
  }
}
