import { useLayoutEffect, useRef } from "preact/hooks";
import { PageFrame } from "../parts/page-frame.js";
import { Badge } from "../parts/panel.js";
import { href, useRoute } from "../parts/use-route.js";
import { visible } from "../../../text/visible-text.js";
import { EventDetail } from "./event-detail.js";
import { EventList } from "./event-list.js";
import { useLiveInbox } from "./use-live-inbox.js";

// This page puts the scroll back itself, because the list appears later than the browser expects.
history.scrollRestoration = "manual";

/** `#/?q=SEARCH&before=SEQ` is the list, `#/events/ID?q=…` an event of it. */
export function InboxPage() {
  const { path, query } = useRoute();
  const live = useLiveInbox();
  const eventId = path[0] === "events" ? path[1] : undefined;
  const list = useListBehind(eventId !== undefined);
  const search = query.get("q") ?? "";
  const before = /^\d+$/.test(query.get("before") ?? "") ? Number(query.get("before")) : undefined;
  const { endpoint = "default" } = live.overview ?? {};

  return (
    <PageFrame
      brand={endpoint === "default" ? "Inbox" : `Inbox ${visible(endpoint)}`}
      now={live.now}
      aside={
        <span role="status">
          {live.isConnected ? (
            <Badge tone="good">live</Badge>
          ) : (
            <Badge tone="warn">connection lost, trying again</Badge>
          )}
        </span>
      }
    >
      {list.wasShown && <EventList search={search} before={before} live={live} isHidden={eventId !== undefined} />}
      {eventId !== undefined && (
        <EventDetail key={eventId} eventId={eventId} live={live} back={href([], { q: search, before })} />
      )}
    </PageFrame>
  );
}

/** The list stays behind an event, so that its selection, its scroll and its focus are there on the way back. */
function useListBehind(isBehind: boolean): { wasShown: boolean } {
  const wasShown = useRef(false);
  const wasBehind = useRef(isBehind);
  const left = useRef<{ scroll: number; focused: Element | null }>({ scroll: 0, focused: null });
  if (!isBehind) wasShown.current = true;
  // Now, because the browser changes both as soon as the list is hidden.
  if (isBehind && !wasBehind.current) left.current = { scroll: scrollY, focused: document.activeElement };
  useLayoutEffect(() => {
    if (isBehind === wasBehind.current) return;
    wasBehind.current = isBehind;
    scrollTo(0, isBehind ? 0 : left.current.scroll);
    const { focused } = left.current;
    if (!isBehind && focused instanceof HTMLElement && focused.isConnected) focused.focus({ preventScroll: true });
  }, [isBehind]);
  return { wasShown: wasShown.current };
}
