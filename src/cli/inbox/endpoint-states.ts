import { readInboxState } from "../../kit/inbox/read-situation.js";
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
