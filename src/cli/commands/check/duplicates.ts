import type { Answer, Hold } from "../../deliveries/send-delivery.js";
import { CANNOT_TELL, readAcceptedCount, timesTaken, type Taken } from "./accepted-count.js";
import type { Observation, Probe } from "./check.js";
import type { CheckContext } from "./check-context.js";
import { isSuccess, tellsDuplicate } from "./judge-answer.js";
import { wordsOf } from "./run-cases.js";
import { restartReceiver } from "./restart-receiver.js";

const SIMULTANEOUS = 20;
/** A server that takes few connections at a time leaves the others waiting, and they must not wait for ever. */
const HOLD_MS = 1500;
/** For the receiver to take the connections, so that it meets all the last bytes at once. */
const SETTLE_MS = 100;

/** One event three times, one after the other. */
export async function checkAcceptedOnce(context: CheckContext): Promise<Observation> {
  const before = await readAcceptedCount(context);
  const built = context.build("repeated-signal");
  const answers: Answer[] = [];
  for (let index = 0; index < built.sendings; index++) answers.push(await context.send(built, index));
  const taken = await timesTaken(answers, before, context);
  if (taken === null) return { probes: [], unseen: CANNOT_TELL };
  return { probes: [onceProbe(`one signal ${answers.length} times, signed anew each time`, taken)] };
}

const DROPPED =
  "The connections themselves are refused, reset or left without an answer, before anything is looked up: raise the " +
  "server's backlog (its queue of new connections) or its workers, and the limits of the proxy before it.";

/** One event twenty times in the same moment. */
export async function checkSimultaneous(context: CheckContext): Promise<Observation> {
  const before = await readAcceptedCount(context);
  const answers = await sendTogether(context);
  const sent = `one signal ${SIMULTANEOUS} times at once`;
  const bad = answers.filter((answer) => !isSuccess(answer));
  const acknowledged: Probe = {
    name: "acknowledged",
    sent,
    expected: "2xx each",
    came: bad[0] === undefined ? "2xx each" : `${bad.length} × other, such as ${wordsOf(bad[0], context)}`,
    ok: bad.length === 0,
  };
  // All of them: the receiver went away.
  if (answers.every(({ kind }) => kind === "unreachable")) await context.send(context.build("new-signal"), 0);
  if (bad.length > 0 && bad.every(isNoAnswer)) return { probes: [acknowledged], mend: DROPPED };
  const taken = await timesTaken(answers, before, context);
  if (taken === null) return { probes: [acknowledged], note: `the status alone was looked at: ${CANNOT_TELL}` };
  return { probes: [acknowledged, onceProbe(sent, taken)] };
}

function isNoAnswer({ kind }: Answer): boolean {
  return kind !== "answer";
}

/** One event before and after the receiver was restarted. */
export async function checkRestart(context: CheckContext): Promise<Observation> {
  if (context.restartCommand === undefined) return { probes: [], unseen: "give --restart-command to see it" };
  const isTelling = await context.tellsRepeats();
  const before = await readAcceptedCount(context);
  const built = context.build("repeated-signal");
  const first = await context.send(built, 0);
  if (before !== null) await timesTaken([first], before, context);
  const standing = await readAcceptedCount(context);
  await restartReceiver(context.restartCommand, context);
  const left = await readAcceptedCount(context);
  const second = await context.send(built, 1);
  const sent = "one signal, a restart, and the same signal again";
  const acknowledged: Probe = {
    name: "acknowledged",
    sent,
    expected: "2xx both times",
    came: `${wordsOf(first, context)}, then ${wordsOf(second, context)}`,
    ok: isSuccess(first) && isSuccess(second),
  };
  if (!acknowledged.ok) return { probes: [acknowledged] };
  if (standing !== null && left !== null && left < standing) {
    const came = `the count fell from ${standing} to ${left}: what was accepted before the restart is gone`;
    return { probes: [acknowledged, { name: "kept", sent, expected: "the same count after it", came, ok: false }] };
  }
  if (before === null && !isTelling) return { probes: [], unseen: CANNOT_TELL };
  const taken = await timesTaken([first, second], before, context);
  return { probes: [acknowledged, ...(taken === null ? [] : [onceProbe(sent, taken)])] };
}

/** Whether a repeat can be told from a first sight by its answer. */
export async function checkRepeatsTold(context: CheckContext): Promise<Observation> {
  const built = context.build("repeated-test-event");
  const first = await context.send(built, 0);
  const second = await context.send(built, 1);
  const probe: Probe = {
    name: "repeated-test-event",
    sent: "one test event twice",
    expected: '{"duplicate":true} in the second answer alone',
    came: `${wordsOf(first, context)}, then ${wordsOf(second, context)}`,
    ok: !tellsDuplicate(first) && tellsDuplicate(second),
  };
  return { probes: [probe] };
}

function onceProbe(sent: string, { times, by }: Taken): Probe {
  return {
    name: "accepted-once",
    sent,
    expected: "accepted once",
    came: `accepted ${times} × (by ${by})`,
    ok: times === 1,
  };
}

/** All on their own connections, complete but for the last byte; the last bytes then go out together. */
async function sendTogether(context: CheckContext): Promise<Answer[]> {
  const built = context.build("repeated-signal");
  const hold = holdUntil(SIMULTANEOUS);
  return Promise.all(Array.from({ length: SIMULTANEOUS }, (_, index) => context.send(built, index, hold)));
}

function holdUntil(count: number): Hold {
  const gate = new AbortController();
  const timer = setTimeout(() => gate.abort(), HOLD_MS);
  let held = 0;
  return {
    onHeld() {
      held += 1;
      if (held === count) setTimeout(() => gate.abort(), SETTLE_MS);
    },
    release: new Promise((resolve) => {
      gate.signal.addEventListener("abort", () => {
        clearTimeout(timer);
        resolve();
      });
    }),
  };
}
