import { formatAge, formatCount } from "../text/format.js";
import { visible } from "../text/visible-text.js";
import type { Pause } from "./inbox-facts.js";

/** What is known of an inbox. Null: not known. */
export interface SituationFacts {
  /** Events that wait for their hand-off. */
  ready: number | null;
  dead: number | null;
  quarantined: number | null;
  oldestReceivedAgeMs: number | null;
  pause: Pause | null;
  /** How many different subjects fail with the error of the pause. */
  pausedSubjects?: number | undefined;
  hasReceiver: boolean | null;
  now: number;
}

/** What somebody must act on. */
export interface SituationProblem {
  id: "inbox_behind" | "inbox_paused" | "inbox_not_owned" | "inbox_dead" | "inbox_quarantined";
  /** A sentence with its end. */
  text: string;
}

/** An inbox in words. */
export interface Situation {
  /** `problem`: somebody must act. */
  level: "ok" | "problem";
  /** Sentences, each with its end. */
  text: string;
  /** The parts of the text that are problems; `doctor` prints each. */
  problems: SituationProblem[];
}

/** A receiver that works hands an event off within seconds. */
const BEHIND_MS = 60_000;

/** Says whether an inbox is behind, why, and what a person must do: the same words on the page, in the terminal and in `health()`. */
export function describeSituation(facts: SituationFacts): Situation {
  const { ready, dead, quarantined, oldestReceivedAgeMs, pause, hasReceiver } = facts;
  const problems: Situation["problems"] = [];
  const age = oldestReceivedAgeMs ?? 0;
  const waiting = ready === null ? "events wait" : `${formatCount(ready)} waiting`;
  const isBehind = age >= BEHIND_MS && ready !== 0;
  const oldest = `${waiting}, the oldest received ${formatAge(age)} ago`;
  if (isBehind) problems.push({ id: "inbox_behind", text: `Behind: ${oldest}.` });
  if (pause !== null) problems.push({ id: "inbox_paused", text: pauseText(pause, facts) });
  if (hasReceiver === false) problems.push({ id: "inbox_not_owned", text: "No receiver has this inbox open." });
  if (dead !== null && dead > 0) {
    problems.push({ id: "inbox_dead", text: `${formatCount(dead)} dead: hand-offs were given up.` });
  }
  if (quarantined !== null && quarantined > 0) {
    problems.push({
      id: "inbox_quarantined",
      text: `${formatCount(quarantined)} quarantined: they could not be read.`,
    });
  }
  // While nothing is handed off, not even a young event is on its way.
  const flows = pause === null && hasReceiver !== false;
  const hasWaiting = ready !== null && ready > 0 && oldestReceivedAgeMs !== null;
  const first = [flows ? "Up to date" : "", hasWaiting ? oldest : ""].filter((part) => part !== "").join(": ");
  const sentences = isBehind || first === "" ? problems : [{ text: `${first}.` }, ...problems];
  return {
    level: problems.length > 0 ? "problem" : "ok",
    text: sentences.map(({ text }) => text).join(" "),
    problems,
  };
}

function pauseText({ since, error, nextTryAt }: Pause, { now, pausedSubjects = 0 }: SituationFacts): string {
  const subjects = pausedSubjects > 1 ? ` (${formatCount(pausedSubjects)} subjects)` : "";
  const next = nextTryAt > now ? `in ${formatAge(nextTryAt - now)}` : "now";
  return `Hand-offs are paused since ${clockTime(since, now)} by \`${shortOf(visible(error))}\`${subjects}; one event is tried ${next}.`;
}

const LONGEST_ERROR = 100;

const shortOf = (text: string): string => (text.length > LONGEST_ERROR ? `${text.slice(0, LONGEST_ERROR)}…` : text);

const DAY_MS = 24 * 60 * 60 * 1000;

/** In the reader's time zone; with the date if it is not of the last 24 hours. */
function clockTime(at: number, now: number): string {
  const time = new Date(at).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  return now - at < DAY_MS ? time : `${new Date(at).toLocaleDateString("en-CA")} ${time}`;
}
