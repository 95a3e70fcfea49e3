import {
  href,
  Loaded,
  RequestProblem,
  TimelineSteps,
  useData,
  useRoute,
  View,
} from "../../../page/parts/index.js";
import { buildTimeline, type TimelineSides } from "../../../page/timeline/build-timeline.js";
import type { TracedEvent } from "../../../page/timeline/inbox-steps.js";
import { askInbox, control, hasInboxPage } from "./control.js";

/** What the sender and the receiver's inbox did with an event: `#/events/ID`. */
export function EventView() {
  const [, eventId = ""] = useRoute().path;
  const timeline = useData(eventId, (signal) => loadTimeline(eventId, signal));
  return (
    <View
      title={`Event ${eventId}`}
      actions={<a href={href(["deliveries"], { event_id: eventId })}>Deliveries of this event</a>}
    >
      <Loaded from={timeline}>
        {({ steps, notes, now }) => (
          <>
            {notes.map((note) => (
              <p key={note} class="muted">
                {note}
              </p>
            ))}
            {steps.length > 0 && (
              <section class="panel" aria-label="Timeline">
                <TimelineSteps steps={steps} now={now} />
              </section>
            )}
          </>
        )}
      </Loaded>
    </View>
  );
}

const MOST_DELIVERIES = 500;

async function loadTimeline(eventId: string, signal: AbortSignal) {
  const [{ items }, clock, { inbox, problem }] = await Promise.all([
    control.listDeliveries({ event_id: eventId, limit: MOST_DELIVERIES }),
    control.now(),
    loadInbox(eventId, signal),
  ]);
  const now = Date.now();
  const sender = { deliveries: items, serviceNow: Date.parse(clock.now) };
  const { steps, notes } = buildTimeline({ now, sender, inbox });
  return { now, steps, notes: problem === undefined ? notes : [...notes, problem] };
}

/** `problem`: why the side of the inbox is missing. */
interface InboxSide {
  inbox: TimelineSides["inbox"];
  problem?: string;
}

const NOT_CONNECTED =
  "No inbox is connected, so only the sender's side is shown. Start signalbox dev with --db, or give createEmulator an inboxPage.";

async function loadInbox(id: string, signal: AbortSignal): Promise<InboxSide> {
  if (!hasInboxPage()) return { inbox: null, problem: NOT_CONNECTED };
  try {
    return {
      inbox: {
        event: await askInbox<TracedEvent>("event", { query: { id }, signal }),
      },
    };
  } catch (error) {
    if (!(error instanceof RequestProblem)) throw error;
    // This is what the inbox page itself says of an event that it does not have.
    if (error.status === 404 && error.code === "not_found") return { inbox: { event: null } };
    return { inbox: null, problem: `Inbox: ${error.message}` };
  }
}
