import { existsSync } from "node:fs";
import type { TimelineSides } from "../../../pages/timeline/build-timeline.js";
import type { TracedEvent } from "../../../pages/timeline/inbox-steps.js";
import type { Cli } from "../../console/cli.js";
import { CliError } from "../../options/exit.js";
import { DEFAULT_INBOX } from "../../inbox/inbox-place.js";
import { connectControl, serviceUrl } from "../../emulator/remote-control.js";
import { fullId } from "../../inbox/event-ids.js";
import { noteOtherEndpoint, withInbox } from "../../inbox/open-inbox.js";

/** The control API's largest page: nobody looks at more. */
const MOST_DELIVERIES = 500;

export interface InboxOfTrace {
  db?: string;
  schema?: string;
  endpoint: string;
}

/** @returns null when there is no inbox to look into, and notes how to give one */
export async function readInbox(
  id: string,
  { db = existsSync(DEFAULT_INBOX) ? DEFAULT_INBOX : undefined, ...place }: InboxOfTrace,
  { terminal }: Pick<Cli, "terminal">,
): Promise<TimelineSides["inbox"]> {
  if (db === undefined) {
    if (place.schema !== undefined) terminal.note("--schema has no effect without --db");
    terminal.note(`no inbox: there is no ${DEFAULT_INBOX} here; give --db FILE or --db postgres://…`);
    return null;
  }
  const event = await withInbox({ db, ...place }, async (inbox) => {
    const found = await inbox.store.get(inbox.endpoint, await fullId(inbox, id));
    if (found === undefined) await noteOtherEndpoint(inbox, terminal);
    return found;
  });
  return { event: event === undefined ? null : tracedEvent(event) };
}

const tracedEvent = ({
  rawBody,
  ...event
}: { rawBody: Uint8Array | null } & Omit<TracedEvent, "bytes">): TracedEvent => ({
  ...event,
  bytes: rawBody?.byteLength ?? null,
});

/**
 * @param url the emulator; if it is not given, one is looked for where the commands of `signalbox emulator` look
 * @returns null when none was given and none is found, and notes how to give one
 */
export async function readSender(
  eventId: string,
  url: URL | undefined,
  { env, signal, terminal }: Pick<Cli, "env" | "signal" | "terminal">,
): Promise<TimelineSides["sender"]> {
  const token = env["SIGNALS_CONTROL_TOKEN"] || undefined;
  try {
    const { origin } = url ?? (await serviceUrl(env));
    const control = await connectControl(origin, { token, signal });
    const [{ items: deliveries }, { now }] = await Promise.all([
      control.listDeliveries({ event_id: eventId, limit: MOST_DELIVERIES }),
      control.now(),
    ]);
    return { deliveries, serviceNow: Date.parse(now) };
  } catch (error) {
    if (url !== undefined || !(error instanceof CliError)) throw error;
    terminal.note(`no sender: ${error.message}; if it listens elsewhere, give --url`);
    return null;
  }
}
