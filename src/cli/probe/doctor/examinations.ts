import { isDatabase } from "../../inbox/inbox-place.js";
import { createProbes } from "./probe.js";
import type { Finding, DoctorInput, Examination, Facts, Subject } from "./examination.js";
import { examineHost, examineUrl } from "./examine-address.js";
import { examineClock, examineAnswer, examineConnection } from "./examine-answer.js";
import { examineBody, examineLargeBody, examineTestEvent } from "./examine-body.js";
import { examineDatabase } from "./examine-database.js";
import { examineInboxContent, examineInboxFile, examineInboxOwner } from "./examine-inbox.js";
import {
  examineSenderAnswer,
  examineSenderConnection,
  examineSenderEvent,
  examineSenderSecret,
} from "./examine-sender.js";
import { examineInboxState } from "./examine-state.js";
import { examineForgery, examineSecret, examineStaleness } from "./examine-signature.js";
import { SURROUNDINGS, type Surroundings } from "./surroundings.js";

const INBOX = "Inbox file";
const DATABASE = "Inbox database";
const ADDRESS = "Address";
const CONNECTION = "Connection";
const SIGNATURE = "Signature";
const BODY = "Body";

const noFile = ({ db }: Subject): string | null => (db === undefined ? "no --db was given" : null);
const noTestEvent = ({ sendsTestEvent }: Subject): string | null =>
  sendsTestEvent ? null : "--test-event was not given";

export const EXAMINATIONS: readonly Examination[] = [
  { name: "inbox-file", group: INBOX, needs: [], unless: noFile, run: examineInboxFile },
  {
    name: "inbox-owner",
    group: INBOX,
    needs: ["inbox-file"],
    unless: noFile,
    run: examineInboxOwner,
  },
  {
    name: "inbox-content",
    group: INBOX,
    needs: ["inbox-file"],
    unless: noFile,
    run: examineInboxContent,
  },
  {
    name: "inbox-state",
    group: INBOX,
    needs: ["inbox-content"],
    unless: noFile,
    run: examineInboxState,
  },
  { name: "inbox-database", group: DATABASE, needs: [], run: examineDatabase },
  { name: "database-state", group: DATABASE, needs: ["inbox-database"], run: examineInboxState },
  { name: "url", group: ADDRESS, needs: [], run: examineUrl },
  { name: "host", group: ADDRESS, needs: [], run: examineHost },
  { name: "connection", group: CONNECTION, needs: ["host"], run: examineConnection },
  { name: "answer", group: CONNECTION, needs: ["connection"], run: examineAnswer },
  { name: "clock", group: CONNECTION, needs: ["connection"], run: examineClock },
  { name: "forgery", group: SIGNATURE, needs: ["answer"], run: examineForgery },
  { name: "secret", group: SIGNATURE, needs: ["forgery"], run: examineSecret },
  { name: "staleness", group: SIGNATURE, needs: ["clock", "secret"], run: examineStaleness },
  { name: "body", group: BODY, needs: ["secret"], run: examineBody },
  { name: "large-body", group: BODY, needs: ["body"], run: examineLargeBody },
  {
    name: "test-event",
    group: BODY,
    needs: ["clock", "body"],
    unless: noTestEvent,
    run: examineTestEvent,
  },
];

/** For the receiver of another sender. Its clock is compared by the answer's Date header alone. */
const SENDER_EXAMINATIONS: readonly Examination[] = [
  ...EXAMINATIONS.filter(
    ({ group, name }) => group === INBOX || group === DATABASE || name === "host",
  ),
  { name: "connection", group: CONNECTION, needs: ["host"], run: examineSenderConnection },
  { name: "answer", group: CONNECTION, needs: ["connection"], run: examineSenderAnswer },
  { name: "clock", group: CONNECTION, needs: ["connection"], run: examineClock },
  { name: "secret", group: SIGNATURE, needs: ["answer"], run: examineSenderSecret },
  {
    name: "test-event",
    group: BODY,
    needs: ["secret"],
    unless: noTestEvent,
    run: examineSenderEvent,
  },
];

const LOCAL_GROUPS: ReadonlySet<string> = new Set([INBOX, DATABASE]);
/**
 * Stands for a URL that was not given. Nothing is sent to it, because without a URL only the local
 * groups are examined.
 */
const NO_URL = new URL("http://localhost");

export type Outcome =
  | { examination: Examination; findings: readonly Finding[] }
  | { examination: Examination; /** Why it was skipped. */ skipped: string };

/** An examination is skipped if one that it needs was skipped or found a blocker. */
export async function runExaminations(
  input: DoctorInput,
  onOutcome: (outcome: Outcome) => void,
  surroundings: Surroundings = SURROUNDINGS,
): Promise<Outcome[]> {
  const facts: Facts = {};
  const target = { ...input, url: input.url ?? NO_URL };
  const subject = {
    ...target,
    surroundings,
    send: createProbes(target, surroundings, facts),
    facts,
  };
  /**
   * Examinations that others must not build on, and why: the id of a blocker, or the name of an
   * examination that was not run.
   */
  const blocked = new Map<string, string>();
  const outcomes: Outcome[] = [];
  const otherInbox = isDatabase(input.db ?? "") ? INBOX : DATABASE;
  for (const examination of input.sender === undefined ? EXAMINATIONS : SENDER_EXAMINATIONS) {
    if (examination.group === otherInbox) continue;
    const outcome = await examine(examination);
    outcomes.push(outcome);
    onOutcome(outcome);
  }
  return outcomes;

  async function examine(examination: Examination): Promise<Outcome> {
    const { name, group, needs, unless } = examination;
    const hasTarget = input.url !== null || LOCAL_GROUPS.has(group);
    const reason = hasTarget ? (unless?.(subject) ?? null) : "no --url URL was given";
    if (reason !== null) {
      blocked.set(name, name);
      return { examination, skipped: reason };
    }
    const cause = needs.map((need) => blocked.get(need)).find((found) => found !== undefined);
    if (cause !== undefined) {
      blocked.set(name, cause);
      return { examination, skipped: `not possible until ${cause} is fixed` };
    }
    const findings = await examination.run(subject);
    const blocker = findings.find(({ blocks }) => blocks === true);
    if (blocker !== undefined) blocked.set(name, blocker.id);
    return { examination, findings };
  }
}
