import { echoed, shortened, type Terminal } from "../console/terminal.js";
import { jsonObjectIn } from "./event-source.js";
import {
  answerTimes,
  describeAnswer,
  describeTimes,
  isQuarantined,
  isSuccess,
  rounded,
  type Answer,
} from "./send-delivery.js";

export interface SentDelivery {
  number: number;
  answer: Answer;
  body: Buffer;
}

export function reportAnswers(terminal: Terminal, count: number, asJson: boolean) {
  const startedAt = performance.now();
  const byOutcome = new Map<string, number>();
  const times: number[] = [];
  let failed = 0;
  let quarantined = 0;

  return {
    add(sent: SentDelivery): void {
      const { answer } = sent;
      if (!isSuccess(answer)) failed += 1;
      if (answer.kind === "answer") times.push(answer.ms);
      const outcome =
        answer.kind === "answer" ? String(answer.status) : describeAnswer(answer, false);
      byOutcome.set(outcome, (byOutcome.get(outcome) ?? 0) + 1);
      if (asJson) terminal.printJson(jsonOf(sent));
      else terminal.print(lineOf(sent, count, terminal));
      if (isQuarantined(answer)) quarantined += 1;
      if (times.length % 16 === 0)
        terminal.progress(`${times.length} of ${count}, ${failed} failed`);
    },
    get failed(): number {
      return failed;
    },
    /**
     * Prints the totals. With `asJson` they are an object; otherwise a single delivery has none.
     */
    summarise(): void {
      if (quarantined > 0) {
        const text = `${quarantined} quarantined: the receiver keeps such an event, but cannot use it. To list them:`;
        terminal.note(terminal.notePaint.yellow(text));
        terminal.note("  $ npx signalbox inbox ls --state quarantined --db INBOX");
      }
      const sent = [...byOutcome.values()].reduce((sum, each) => sum + each, 0);
      if (sent === 0) return;
      // An error or Ctrl-C may have ended the run early.
      const ok = failed === 0 && sent === count;
      const seconds = (performance.now() - startedAt) / 1000;
      const took = answerTimes(times);
      if (asJson) {
        const { p50Ms = 0, p99Ms = 0 } = took ?? {};
        const counts = { ok, sent, failed, answers: Object.fromEntries(byOutcome) };
        terminal.printJson({ summary: { ...counts, seconds: rounded(seconds), p50Ms, p99Ms } });
      } else if (count > 1) {
        const outcomes = [...byOutcome].map(([outcome, each]) => `${each} × ${outcome}`).join(", ");
        const colour = ok ? terminal.paint.green : terminal.paint.red;
        terminal.print(
          colour(
            `${sent} sent in ${seconds.toFixed(2)} s (${Math.round(sent / seconds)}/s): ${outcomes}`,
          ) + (took === null ? "" : `; ${describeTimes(took)}`),
        );
      }
    },
  };
}

function lineOf(
  { number, answer, body }: SentDelivery,
  count: number,
  { paint }: Terminal,
): string {
  const position = count === 1 ? [] : [paint.dim(`#${number}`.padStart(String(count).length + 1))];
  const colour = isSuccess(answer) ? paint.green : paint.red;
  if (answer.kind !== "answer")
    return [...position, colour(describeAnswer(answer, true))].join("  ");
  const id = idIn(body);
  return [
    ...position,
    colour(String(answer.status)),
    paint.dim(`${answer.ms.toFixed(1)} ms`.padStart(9)),
    ...(id === null ? [] : [paint.dim(echoed(id))]),
    shortened(answer.shown.trim(), 300),
  ].join("  ");
}

function jsonOf({ number, answer, body }: SentDelivery): object {
  const eventId = idIn(body);
  if (answer.kind !== "answer") return { number, eventId, error: answer.code };
  return { number, eventId, status: answer.status, ms: rounded(answer.ms), body: answer.shown };
}

function idIn(body: Buffer): string | null {
  const id = jsonObjectIn(body)?.["id"];
  return typeof id === "string" ? id : null;
}
