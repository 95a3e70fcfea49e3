import type { EventAnswer } from "../../inbox-page/inbox-api.js";
import { buildTimeline, type TimelineSides } from "../../timeline/build-timeline.js";
import type { Timeline } from "../../timeline/timeline-step.js";
import { View } from "../parts/page-frame.js";
import { Loaded } from "../parts/panel.js";
import { RequestProblem } from "../parts/request.js";
import { TimelineSteps } from "../parts/timeline.js";
import { href, useRoute } from "../parts/use-route.js";
import { visible } from "../../../text/visible-text.js";
import { type Answer, ask, control, useLive } from "./control.js";

/** What the sender and the receiver's inbox did with an event: `#/events/ID`. */
export function EventView() {
  const [, eventId = ""] = useRoute().path;
  const timeline = useLive((signal) => loadTimeline(eventId, signal), [eventId]);
  return (
    <View
      title={`Event ${visible(eventId)}`}
      actions={<a href={href(["deliveries"], { event_id: eventId })}>Its deliveries</a>}
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

async function loadTimeline(eventId: string, signal: AbortSignal): Promise<Timeline & { now: number }> {
  const [{ items }, clock, { inbox, problem }] = await Promise.all([
    control<Answer<"listDeliveries">>("GET", "/deliveries", { event_id: eventId, limit: MOST_DELIVERIES }),
    control<Answer<"now">>("GET", "/clock"),
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

/** The browser logs an answer of 404, so it is asked for once. */
let isConnected = true;

async function loadInbox(id: string, signal: AbortSignal): Promise<InboxSide> {
  if (!isConnected) return { inbox: null, problem: NOT_CONNECTED };
  try {
    const event = await ask<EventAnswer>("GET", "/inbox/api/event", { query: { id }, signal });
    return { inbox: { event } };
  } catch (error) {
    if (!(error instanceof RequestProblem)) throw error;
    // This is what the inbox page itself says of an event that it does not have.
    if (error.status === 404 && error.code === "not_found") return { inbox: { event: null } };
    // And this is the emulator's answer.
    isConnected = error.code !== "RESOURCE_NOT_FOUND";
    return { inbox: null, problem: isConnected ? `Inbox: ${error.message}` : NOT_CONNECTED };
  }
}
