import { isDatabase } from "../../inbox/open-inbox.js";
import { runSteps } from "../run-steps.js";
import {
  sendProbe,
  SURROUNDINGS,
  type DoctorInput,
  type Examination,
  type Facts,
  type Finding,
  type Subject,
  type Surroundings,
} from "./examination.js";
import { examineBody, examineLargeBody, examineTestEvent } from "./examine-body.js";
import {
  examineAnswer,
  examineClock,
  examineConnection,
  examineHost,
  examineUrl,
} from "./examine-connection.js";
import { examineDatabase } from "./examine-database.js";
import {
  examineInboxContent,
  examineInboxFile,
  examineInboxOwner,
  examineInboxState,
} from "./examine-inbox.js";
import {
  examineSenderAnswer,
  examineSenderConnection,
  examineSenderEvent,
  examineSenderSecret,
} from "./examine-sender.js";
import { examineForgery, examineSecret, examineStaleness } from "./examine-signature.js";

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
  { id: "inbox-file", group: INBOX, unless: noFile, run: examineInboxFile },
  {
    id: "inbox-owner",
    group: INBOX,
    needs: ["inbox-file"],
    unless: noFile,
    run: examineInboxOwner,
  },
  {
    id: "inbox-content",
    group: INBOX,
    needs: ["inbox-file"],
    unless: noFile,
    run: examineInboxContent,
  },
  {
    id: "inbox-state",
    group: INBOX,
    needs: ["inbox-content"],
    unless: noFile,
    run: examineInboxState,
  },
  { id: "inbox-database", group: DATABASE, run: examineDatabase },
  { id: "database-state", group: DATABASE, needs: ["inbox-database"], run: examineInboxState },
  { id: "url", group: ADDRESS, run: examineUrl },
  { id: "host", group: ADDRESS, run: examineHost },
  { id: "connection", group: CONNECTION, needs: ["host"], run: examineConnection },
  { id: "answer", group: CONNECTION, needs: ["connection"], run: examineAnswer },
  { id: "clock", group: CONNECTION, needs: ["connection"], run: examineClock },
  { id: "forgery", group: SIGNATURE, needs: ["answer"], run: examineForgery },
  { id: "secret", group: SIGNATURE, needs: ["forgery"], run: examineSecret },
  { id: "staleness", group: SIGNATURE, needs: ["clock", "secret"], run: examineStaleness },
  { id: "body", group: BODY, needs: ["secret"], run: examineBody },
  { id: "large-body", group: BODY, needs: ["body"], run: examineLargeBody },
  {
    id: "test-event",
    group: BODY,
    needs: ["clock", "body"],
    unless: noTestEvent,
    run: examineTestEvent,
  },
];

/** For the receiver of another sender. Its clock is compared by the answer's Date header alone. */
const SENDER_EXAMINATIONS: readonly Examination[] = [
  ...EXAMINATIONS.filter(({ group, id }) => group === INBOX || group === DATABASE || id === "host"),
  { id: "connection", group: CONNECTION, needs: ["host"], run: examineSenderConnection },
  { id: "answer", group: CONNECTION, needs: ["connection"], run: examineSenderAnswer },
  { id: "clock", group: CONNECTION, needs: ["connection"], run: examineClock },
  { id: "secret", group: SIGNATURE, needs: ["answer"], run: examineSenderSecret },
  {
    id: "test-event",
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
export function runExaminations(
  input: DoctorInput,
  onOutcome: (outcome: Outcome) => void,
  surroundings: Surroundings = SURROUNDINGS,
): Promise<Outcome[]> {
  const facts: Facts = {};
  const target = { ...input, url: input.url ?? NO_URL, surroundings, facts };
  const subject: Subject = { ...target, send: (probe) => sendProbe(target, probe) };
  const otherInbox = isDatabase(input.db ?? "") ? INBOX : DATABASE;
  const all = input.sender === undefined ? EXAMINATIONS : SENDER_EXAMINATIONS;
  return runSteps(
    all.filter(({ group }) => group !== otherInbox),
    async (examination, cause) => {
      const { id, group, unless } = examination;
      const hasTarget = input.url !== null || LOCAL_GROUPS.has(group);
      const reason = hasTarget ? (unless?.(subject) ?? null) : "no --url URL was given";
      if (reason !== null) return [{ examination, skipped: reason }, id];
      if (cause !== undefined)
        return [{ examination, skipped: `not possible until ${cause} is fixed` }, cause];
      const findings = await examination.run(subject);
      return [{ examination, findings }, findings.find(({ blocks }) => blocks)?.id ?? null];
    },
    onOutcome,
  );
}
