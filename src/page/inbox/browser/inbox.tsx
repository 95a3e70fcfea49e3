import { render } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { visible } from "../../../base/text/visible-text.js";
import { PageFrame, PageRoot } from "../../parts/page-frame.js";
import { Badge } from "../../parts/panel.js";
import { href, useRoute } from "../../parts/use-route.js";
import { EventDetail } from "./event-detail.js";
import { EventList } from "./event-list.js";
import { useLiveInbox } from "./use-live-inbox.js";

/** Where the emulator serves the page, beside its own. */
const DASHBOARD = /\/_emulator\/inbox\/$/;

/** `#/?q=SEARCH&before=SEQ` is the list, `#/events/ID?q=…` an event of it. */
export function InboxPage() {
  const { path, query } = useRoute();
  const live = useLiveInbox();
  const eventId = path[0] === "events" ? path[1] : undefined;
  const wasListShown = useListBehind(eventId !== undefined);
  const search = query.get("q") ?? "";
  const before = /^\d+$/.test(query.get("before") ?? "") ? Number(query.get("before")) : undefined;
  const { endpoints = [] } = live.overview ?? {};
  const endpoint = endpoints[0]?.endpoint ?? "default";

  return (
    <PageFrame
      brand={
        endpoint === "default" || endpoints.length > 1 ? "Inbox" : `Inbox ${visible(endpoint)}`
      }
      alert={live.overview?.counts.dead ?? 0}
      now={live.now}
      aside={
        <>
          {DASHBOARD.test(location.pathname) && <a href="../ui/">Dashboard</a>}
          <span role="status">
            <Badge tone={live.isConnected ? "good" : "warn"}>
              {live.isConnected ? "live" : "connection lost, trying again"}
            </Badge>
          </span>
        </>
      }
    >
      {wasListShown && <EventList search={search} before={before} live={live} open={eventId} />}
      {eventId !== undefined && (
        <EventDetail
          key={eventId}
          eventId={eventId}
          live={live}
          back={href([], { q: search, before })}
        />
      )}
    </PageFrame>
  );
}

/**
 * The list stays behind an event, so that its selection, its scroll and its focus are there on the
 * way back.
 *
 * @returns whether there is a list: an event that is opened first has none behind it
 */
function useListBehind(isBehind: boolean): boolean {
  const [wasShown, setWasShown] = useState(!isBehind);
  if (!isBehind && !wasShown) setWasShown(true);
  const wasBehind = useRef(isBehind);
  const left = useRef<{ scroll: number; focused: Element | null }>({ scroll: 0, focused: null });
  useLayoutEffect(() => {
    // The list appears later than the browser expects.
    history.scrollRestoration = "manual";
    // The view changes after this event. Then the browser has lost both, because the list is
    // hidden.
    const keep = (): void => {
      if (!wasBehind.current) left.current = { scroll: scrollY, focused: document.activeElement };
    };
    addEventListener("hashchange", keep);
    return () => removeEventListener("hashchange", keep);
  }, []);
  useLayoutEffect(() => {
    if (isBehind === wasBehind.current) return;
    wasBehind.current = isBehind;
    scrollTo(0, isBehind ? 0 : left.current.scroll);
    // Beside the event the list scrolls by itself.
    document.querySelector(".behind")?.scrollTo(0, left.current.scroll);
    const { focused } = left.current;
    if (!isBehind && focused instanceof HTMLElement && focused.isConnected)
      focused.focus({ preventScroll: true });
  }, [isBehind]);
  return wasShown || !isBehind;
}

render(
  <PageRoot>
    <InboxPage />
  </PageRoot>,
  document.body,
);
