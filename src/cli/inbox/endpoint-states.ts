import { readInboxState } from "../../inbox/read-situation.js";
import type { SituationProblem } from "../../inbox/situation.js";
import { inboxCommand, type EndpointPlace } from "./inbox-place.js";
import type { OpenInbox } from "./open-inbox.js";

/** The state of each endpoint of the command. @param since as {@link readInboxState} has it */
export async function readStates({ store, endpoints, now }: OpenInbox, since?: number) {
  return Promise.all(
    endpoints.map(async (endpoint) => {
      const { facts, ...state } = await readInboxState(store, endpoint, now, since);
      // A receiver of another endpoint may have an empty database open.
      const hasReceiver = store.shared && facts.total === 0 ? null : facts.hasReceiver;
      return { ...state, endpoint, facts: { ...facts, hasReceiver } };
    }),
  );
}

const COMMANDS: Partial<Record<SituationProblem["id"], readonly string[]>> = {
  inbox_behind: ["inbox failures"],
  inbox_paused: ["inbox failures"],
  inbox_dead: ["inbox failures", "inbox retry --all-dead"],
  inbox_quarantined: ["inbox ls --state quarantined"],
};

/** The commands that help with a problem, the one to begin with first. */
export function commandsFor(id: SituationProblem["id"], place: EndpointPlace): string[] {
  return (COMMANDS[id] ?? []).map((words) => inboxCommand(words, place));
}
