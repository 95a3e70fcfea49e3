import { EventEmitter, once } from "node:events";
import { describeAnswer, isSuccess, type Answer } from "../../deliveries/answer.js";
import type { Hold } from "../../deliveries/send-delivery.js";
import {
  sendTimes,
  isMarkedDuplicate,
  type CheckContext,
  type Observation,
  type Probe,
} from "./check-context.js";
import { restartReceiver } from "./restart-receiver.js";

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
  const answers = await sendTimes(3, "repeated-signal", context);
  return {
    probes: [
      onceProbe(`one signal ${answers.length} times, each time with a new signature`, answers),
    ],
  };
}

export async function checkSimultaneous(context: CheckContext): Promise<Observation> {
  const answers = await sendTogether(context);
  const sent = `one signal ${SIMULTANEOUS} times at the same time`;
  const acknowledged = acknowledgedProbe(sent, answers);
  // If the receiver is down, this delivery throws the error that says so. Otherwise it only refused
  // so many connections.
  if (answers.every(({ kind }) => kind === "unreachable"))
    await context.send(context.build("new-signal"), 0);
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
  return {
    probes: acknowledged.ok ? [acknowledged, onceProbe(sent, [first, second])] : [acknowledged],
  };
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
