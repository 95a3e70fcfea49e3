import type { JSX } from "preact";
import { buildTimeline, type TimelineSides } from "../../../timeline/build-timeline.js";
import type { EventAnswer } from "../../../inbox-page/inbox-api.js";
import { request, RequestProblem } from "../../parts/request.js";
import { Timeline } from "../../parts/timeline.js";
import { href, useRoute } from "../../parts/use-route.js";
import { visible } from "../../parts/visible-text.js";
import { control, useLive, type Answer } from "../control.js";
import { controlToken } from "../access/control-token.js";
import { Loaded, View } from "../panel.js";

/** What the sender and the receiver's inbox did with an event: `#/events/ID`. */
export function EventView(): JSX.Element {
  const [, eventId = ""] = useRoute().path;
  const sides = useLive((signal) => loadSides(eventId, signal), [eventId]);
  return (
    <View
      title={`Event ${visible(eventId)}`}
      actions={<a href={href(["deliveries"], { event: eventId })}>Its deliveries</a>}
    >
      <Loaded from={sides}>{showSides}</Loaded>
    </View>
  );
}

function showSides(sides: Sides): JSX.Element {
  const { steps, notes } = buildTimeline(sides);
  return (
    <>
      {[...notes, ...(sides.inboxProblem === null ? [] : [sides.inboxProblem])].map((note) => (
        <p key={note} class="muted">
          {note}
        </p>
      ))}
      {steps.length > 0 && (
        <section class="panel" aria-label="Timeline">
          <Timeline steps={steps} now={sides.now} />
        </section>
      )}
    </>
  );
}

interface Sides extends TimelineSides {
  /** Why the side of the inbox is missing. */
  inboxProblem: string | null;
}

const MOST_DELIVERIES = 500;

async function loadSides(eventId: string, signal: AbortSignal): Promise<Sides> {
  const [{ items }, { now }, inbox] = await Promise.all([
    control<Answer<"listDeliveries">>("GET", "/deliveries", { event_id: eventId, limit: MOST_DELIVERIES }),
    control<Answer<"now">>("GET", "/clock"),
    loadInbox(eventId, signal),
  ]);
  return { now: Date.now(), sender: { deliveries: items, serviceNow: Date.parse(now) }, ...inbox };
}

const NOT_CONNECTED =
  "No inbox is connected, so only the sender's side is shown. Start signalbox dev with --db, or give createEmulator an inboxPage.";

/** The browser logs an answer of 404, so it is asked for once. */
let isConnected = true;

async function loadInbox(id: string, signal: AbortSignal): Promise<Pick<Sides, "inbox" | "inboxProblem">> {
  if (!isConnected) return { inbox: null, inboxProblem: NOT_CONNECTED };
  const token = controlToken();
  const headers = token === null ? {} : { Authorization: `Bearer ${token}` };
  try {
    const event = await request<EventAnswer>("GET", "../inbox/api/event", { query: { id }, headers, signal });
    return { inbox: { event }, inboxProblem: null };
  } catch (error) {
    if (!(error instanceof RequestProblem)) throw error;
    // This is what the inbox page itself says of an event that it does not have.
    if (error.status === 404 && error.code === "not_found") return { inbox: { event: null }, inboxProblem: null };
    // And this is the emulator's answer.
    isConnected = error.code !== "RESOURCE_NOT_FOUND";
    return { inbox: null, inboxProblem: isConnected ? `Inbox: ${error.message}` : NOT_CONNECTED };
  }
}
