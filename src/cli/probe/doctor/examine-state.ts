import { isSignalboxError } from "../../../base/errors.js";
import { describeEndpoints, type SituationProblem } from "../../../kit/inbox/situation.js";
import { inboxCommand } from "../../inbox/inbox-place.js";
import { withInbox } from "../../inbox/open-inbox.js";
import { printable } from "../../console/printable.js";
import { ok, problem, warning, type Finding, type Subject } from "./examination.js";

const FIXES: Partial<Record<SituationProblem["id"], string>> = {
  inbox_behind:
    "Look at what fails. If nothing fails, start the receiver, or raise handoff.concurrency if its callback is slow.",
  inbox_paused:
    "Remove the cause of the error. Hand-offs then go on by themselves, within a minute.",
  inbox_not_owned: "Start the receiver of this endpoint.",
  inbox_refusing:
    "docs/errors.md, Answer codes, says what each code needs. What is mended before the sender's last attempt comes again.",
  inbox_dead:
    "Look at what fails and remove the cause. Then retry the dead events, or discard them.",
  inbox_quarantined:
    "List them: each says why. Retry them with a version that can read them, or discard them.",
};

/** The commands that help, the one to begin with first. */
const COMMANDS: Partial<Record<SituationProblem["id"], readonly string[]>> = {
  inbox_behind: ["inbox failures"],
  inbox_paused: ["inbox failures"],
  inbox_dead: ["inbox failures", "inbox retry --all-dead"],
  inbox_quarantined: ["inbox ls --state quarantined"],
};

/**
 * What waits, fails, was given up or was refused, for each endpoint of the inbox, the worst first.
 */
export async function examineInboxState(subject: Subject): Promise<Finding[]> {
  const { db = "", schema, endpoint: only, since, surroundings, facts } = subject;
  if (facts.isInboxBusy === true) return [];
  try {
    return await withInbox({ db, schema, endpoint: only }, async (inbox) => {
      const states = await inbox.states(surroundings.now(), since);
      // If none has a receiver, another examination tells it.
      const hasAny = states.some((state) => state.facts.hasReceiver === true);
      return describeEndpoints(states).endpoints.flatMap(({ endpoint, problems, text }) => {
        const name =
          inbox.isShared || endpoint !== "default" ? `endpoint ${printable(endpoint)}: ` : "";
        const place = { db, schema, endpoint: inbox.isShared ? endpoint : undefined };
        const found = problems.filter(({ id }) => hasAny || id !== "inbox_not_owned");
        if (problems.length === 0)
          return [ok("inbox_up_to_date", `${name}${text.replace(/\.$/, "")}`)];
        return found.map(({ id, text: what }) => ({
          ...(id === "inbox_not_owned" ? warning : problem)(
            id,
            `${name}${what.replace(/\.$/, "")}`,
            FIXES[id] ?? "",
          ),
          commands: (COMMANDS[id] ?? []).map((words) => inboxCommand(words, place)),
        }));
      });
    });
  } catch (error) {
    if (!isSignalboxError(error)) throw error;
    // Another examination has told it.
    return [];
  }
}
