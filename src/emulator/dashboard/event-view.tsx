import type { TracedEvent } from "../../timeline/inbox-steps.js";
import { buildTimeline, type TimelineSides } from "../../timeline/build-timeline.js";
import type { RefObject } from "preact";
import { useRef } from "preact/hooks";
import { View } from "../../browser-parts/page-frame.js";
import { Loaded } from "../../browser-parts/panel.js";
import { RequestProblem } from "../../browser-parts/request.js";
import { TimelineSteps } from "../../browser-parts/timeline.js";
import { href, useRoute } from "../../browser-parts/use-route.js";
import { visible } from "../../text/visible-text.js";
import { type Answer, ask, control, useLive } from "./control.js";

/** What the sender and the receiver's inbox did with an event: `#/events/ID`. */
export function EventView() {
  const [, eventId = ""] = useRoute().path;
  const hasInbox = useRef(true);
  const timeline = useLive(eventId, async (signal) => {
    try {
      return await loadTimeline(eventId, hasInbox, signal);
    } catch (error) {
      // The emulator does not answer. Another one may be started in its place, with an inbox.
      hasInbox.current = true;
      throw error;
    }
  });
  return (
    <View
      title={`Event ${visible(eventId)}`}
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

/** The browser logs an answer of 404, so an emulator without an inbox is asked for it once. */
type HasInbox = RefObject<boolean>;

async function loadTimeline(eventId: string, hasInbox: HasInbox, signal: AbortSignal) {
  const [{ items }, clock, { inbox, problem }] = await Promise.all([
    control<Answer<"listDeliveries">>("GET", "/deliveries", { event_id: eventId, limit: MOST_DELIVERIES }),
    control<Answer<"now">>("GET", "/clock"),
    loadInbox(eventId, hasInbox, signal),
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

async function loadInbox(id: string, hasInbox: HasInbox, signal: AbortSignal): Promise<InboxSide> {
  if (!hasInbox.current) return { inbox: null, problem: NOT_CONNECTED };
  try {
    const event = await ask<TracedEvent>("GET", "/inbox/api/event", { query: { id }, signal });
    return { inbox: { event } };
  } catch (error) {
    if (!(error instanceof RequestProblem)) throw error;
    // This is what the inbox page itself says of an event that it does not have.
    if (error.status === 404 && error.code === "not_found") return { inbox: { event: null } };
    // And this is the emulator's answer.
    hasInbox.current = error.code !== "RESOURCE_NOT_FOUND";
    return { inbox: null, problem: hasInbox.current ? `Inbox: ${error.message}` : NOT_CONNECTED };
  }
}
