import { isSignalboxError } from "../../../errors.js";
import { readInboxState } from "../../../inbox/read-situation.js";
import { describeSituation, type SituationProblem } from "../../../inbox/situation.js";
import { withInbox } from "../../inbox/open-inbox.js";
import { printable } from "../../console/printable.js";
import { ok, problem, type Finding, type Subject } from "./examination.js";

const FIXES: Partial<Record<SituationProblem["id"], string>> = {
  inbox_behind:
    "Run `signalbox inbox failures`. If nothing fails, start the receiver, or raise handoff.concurrency if its callback is slow.",
  inbox_paused: "Remove the cause of the error. Hand-offs then go on by themselves, within a minute.",
  inbox_dead:
    "Run `signalbox inbox failures`, remove the cause, and then `signalbox inbox retry --all-dead`, or `inbox discard`.",
  inbox_quarantined:
    "Run `signalbox inbox ls --state quarantined`, which says why. Retry them with a version that can read them, or discard them.",
};

/** What waits, fails or was given up, for each endpoint of the inbox. */
export async function examineInboxState({ db = "", schema, surroundings, facts: known }: Subject): Promise<Finding[]> {
  if (known.isInboxBusy === true) return [];
  const place = { db, ...(schema !== undefined && { schema }) };
  try {
    const endpoints = await withInbox({ ...place, endpoint: "default" }, ({ store }) => store.endpoints());
    const findings: Finding[] = [];
    for (const endpoint of endpoints) {
      const { facts } = await withInbox({ ...place, endpoint }, ({ store }) =>
        readInboxState(store, endpoint, surroundings.now()),
      );
      const { problems, text } = describeSituation(facts);
      const name = endpoints.length > 1 || endpoint !== "default" ? `endpoint ${printable(endpoint)}: ` : "";
      // Another examination looks for the process that has the inbox open.
      const found = problems.filter(({ id }) => id !== "inbox_not_owned");
      for (const { id, text: what } of found)
        findings.push(problem(id, `${name}${what.replace(/\.$/, "")}`, FIXES[id] ?? ""));
      if (found.length === 0) findings.push(ok("inbox_up_to_date", `${name}${text.replace(/\.$/, "")}`));
    }
    return findings;
  } catch (error) {
    if (!isSignalboxError(error)) throw error;
    // Another examination has told it.
    return [];
  }
}
