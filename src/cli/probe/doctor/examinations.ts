import { isDatabase } from "../../inbox/open-inbox.js";
import { runSteps } from "../run-steps.js";
import {
  sendProbe,
  SURROUNDINGS,
  type DoctorInput,
  type Examination,
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

const LOCAL: readonly Examination[] = [
  { id: "inbox-file", group: INBOX, run: examineInboxFile },
  { id: "inbox-owner", group: INBOX, needs: ["inbox-file"], run: examineInboxOwner },
  { id: "inbox-content", group: INBOX, needs: ["inbox-file"], run: examineInboxContent },
  { id: "inbox-state", group: INBOX, needs: ["inbox-content"], run: examineInboxState },
  { id: "inbox-database", group: DATABASE, run: examineDatabase },
  { id: "database-state", group: DATABASE, needs: ["inbox-database"], run: examineInboxState },
];

const HOST: Examination = { id: "host", group: ADDRESS, run: examineHost };
const CLOCK: Examination = {
  id: "clock",
  group: CONNECTION,
  needs: ["connection"],
  run: examineClock,
};
const TEST_EVENT = "test-event";

export const EXAMINATIONS: readonly Examination[] = [
  ...LOCAL,
  { id: "url", group: ADDRESS, run: examineUrl },
  HOST,
  { id: "connection", group: CONNECTION, needs: ["host"], run: examineConnection },
  { id: "answer", group: CONNECTION, needs: ["connection"], run: examineAnswer },
  CLOCK,
  { id: "forgery", group: SIGNATURE, needs: ["answer"], run: examineForgery },
  { id: "secret", group: SIGNATURE, needs: ["forgery"], run: examineSecret },
  { id: "staleness", group: SIGNATURE, needs: ["clock", "secret"], run: examineStaleness },
  { id: "body", group: BODY, needs: ["secret"], run: examineBody },
  { id: "large-body", group: BODY, needs: ["body"], run: examineLargeBody },
  { id: TEST_EVENT, group: BODY, needs: ["clock", "body"], run: examineTestEvent },
];

/** For the receiver of another sender. Its clock is compared by the answer's Date header alone. */
const SENDER_EXAMINATIONS: readonly Examination[] = [
  ...LOCAL,
  HOST,
  { id: "connection", group: CONNECTION, needs: ["host"], run: examineSenderConnection },
  { id: "answer", group: CONNECTION, needs: ["connection"], run: examineSenderAnswer },
  CLOCK,
  { id: "secret", group: SIGNATURE, needs: ["answer"], run: examineSenderSecret },
  { id: TEST_EVENT, group: BODY, needs: ["secret"], run: examineSenderEvent },
];

/**
 * Stands for a URL that was not given. Nothing is sent to it, because without a URL only the inbox
 * is examined.
 */
const NO_URL = new URL("http://localhost");

export interface Outcome {
  examination: Examination;
  findings: readonly Finding[];
  /** Why it was skipped; null if it was not. */
  skipped: string | null;
}

/** An examination is skipped if one that it needs was skipped or found a blocker. */
export function runExaminations(
  input: DoctorInput,
  onOutcome: (outcome: Outcome) => void,
  surroundings: Surroundings = SURROUNDINGS,
): Promise<Outcome[]> {
  const target = { ...input, url: input.url ?? NO_URL, surroundings, facts: {} };
  const subject: Subject = { ...target, send: (probe) => sendProbe(target, probe) };
  const otherInbox = isDatabase(input.db ?? "") ? INBOX : DATABASE;
  const all = input.sender === undefined ? EXAMINATIONS : SENDER_EXAMINATIONS;
  return runSteps(
    all.filter(({ group }) => group !== otherInbox),
    async (examination, cause) => {
      const missing = missingOption(examination, input);
      const skipped =
        missing ?? (cause === undefined ? null : `not possible until ${cause} is fixed`);
      const findings = skipped === null ? await examination.run(subject) : [];
      const blocker =
        missing === null
          ? (cause ?? findings.find(({ blocks }) => blocks)?.id ?? null)
          : examination.id;
      return [{ examination, findings, skipped }, blocker];
    },
    onOutcome,
  );
}

/** The option without which this is not examined; null if it was given. */
function missingOption(
  { id, group }: Examination,
  { url, db, sendsTestEvent }: DoctorInput,
): string | null {
  const isLocal = group === INBOX || group === DATABASE;
  if (isLocal) return db === undefined ? "no --db was given" : null;
  if (url === null) return "no --url URL was given";
  return id === TEST_EVENT && !sendsTestEvent ? "--test-event was not given" : null;
}
