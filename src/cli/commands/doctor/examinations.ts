import { examineHost, examineUrl } from "./examine-address.js";
import { examineAnswer } from "./examine-answer.js";
import { examineBody, examineLargeBody } from "./examine-body.js";
import { examineClock } from "./examine-clock.js";
import { examineConnection } from "./examine-connection.js";
import { examineInboxContent } from "./examine-inbox-content.js";
import { examineInboxDisk } from "./examine-inbox-disk.js";
import { examineInboxFile } from "./examine-inbox-file.js";
import { examineInboxOwner } from "./examine-inbox-owner.js";
import { examineDriver, examineNode, examineSqlite } from "./examine-installation.js";
import { examinePace } from "./examine-pace.js";
import { examineForgery, examineStaleness } from "./examine-refusals.js";
import { examineSecret } from "./examine-secret.js";
import { examineTestEvent } from "./examine-test-event.js";
import type { Examination, Subject } from "./examination.js";

export const INSTALLATION = "This installation";
export const INBOX = "Inbox file";
const ADDRESS = "Address";
const CONNECTION = "Connection";
const SIGNATURE = "Signature";
const BODY = "Body";

const noFile = ({ db }: Subject): string | null => (db === undefined ? "no --db FILE was given" : null);
const notAsked = ({ sendsTestEvent }: Subject): string | null =>
  sendsTestEvent ? null : "--test-event was not given, and nothing else is stored";

/** All of them, in the order in which they are done. */
export const EXAMINATIONS: readonly Examination[] = [
  { name: "node", group: INSTALLATION, needs: [], run: examineNode },
  { name: "driver", group: INSTALLATION, needs: [], run: examineDriver },
  { name: "sqlite", group: INSTALLATION, needs: ["driver"], run: examineSqlite },
  { name: "inbox-file", group: INBOX, needs: [], unless: noFile, run: examineInboxFile },
  { name: "inbox-disk", group: INBOX, needs: ["inbox-file"], unless: noFile, run: examineInboxDisk },
  { name: "inbox-owner", group: INBOX, needs: ["driver", "inbox-file"], unless: noFile, run: examineInboxOwner },
  { name: "inbox-content", group: INBOX, needs: ["driver", "inbox-file"], unless: noFile, run: examineInboxContent },
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
  { name: "test-event", group: BODY, needs: ["clock", "body"], unless: notAsked, run: examineTestEvent },
  // A receiver without a secret waits for one before it says so.
  { name: "pace", group: "Pace", needs: ["answer"], run: examinePace },
];
