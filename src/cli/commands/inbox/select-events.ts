import { Option, type Command } from "commander";
import type { EventState } from "../../../inbox/store.js";
import { usageError } from "../../options/exit.js";
import type { OpenInbox } from "./inbox-options.js";
import { listPages } from "./list-pages.js";
import { fullId } from "./short-id.js";

export interface SelectOptions {
  allDead?: true;
  state?: "dead" | "quarantined";
}

export function addSelectOptions(command: Command): Command {
  return command
    .addOption(new Option("--all-dead", "all that are dead").conflicts("state"))
    .addOption(new Option("--state <state>", "all in this state").choices(["dead", "quarantined"]));
}

/** Which events are meant, as pages of ids: those that were named, or all in a state. */
export function checkSelection(ids: readonly string[], { allDead, state }: SelectOptions): EventState | null {
  const all = allDead ? "dead" : state;
  if (ids.length > 0 && all !== undefined) throw usageError("name ids, or give --all-dead or --state, not both");
  if (ids.length === 0 && all === undefined) throw usageError("name the ids, or give --all-dead or --state <state>");
  return all ?? null;
}

export async function* selectIds(
  inbox: OpenInbox,
  ids: readonly string[],
  state: EventState | null,
): AsyncGenerator<string[]> {
  if (state === null) yield await Promise.all(ids.map((id) => fullId(inbox, id)));
  else for await (const page of listPages(inbox, { state })) yield page.map(({ eventId }) => eventId);
}
