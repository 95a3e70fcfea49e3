import { readInboxState, type InboxState } from "../../inbox/read-situation.js";
import type { SituationProblem } from "../../inbox/situation.js";
import { inboxCommand, type EndpointPlace } from "./inbox-place.js";
import type { OpenInbox } from "./open-inbox.js";

export interface EndpointState extends InboxState {
  endpoint: string;
}

/** The state of each endpoint of the command; of an empty inbox that of one endpoint, because its receiver may be missing. */
export async function readStates({ store, endpoints, now }: OpenInbox, since?: number): Promise<EndpointState[]> {
  const states: EndpointState[] = [];
  for (const endpoint of endpoints.length === 0 ? ["default"] : endpoints) {
    states.push({ endpoint, ...(await readInboxState(store, endpoint, now, since)) });
  }
  // A receiver of another endpoint may have an empty database open.
  if (endpoints.length === 0 && store.shared) for (const { facts } of states) facts.hasReceiver = null;
  return states;
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
