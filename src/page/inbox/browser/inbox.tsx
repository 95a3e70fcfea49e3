import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import {
  Badge,
  followLive,
  href,
  PageFrame,
  request,
  showPage,
  useRoute,
} from "../../parts/index.js";
import type { Overview } from "../inbox-api.js";
import { EventDetail } from "./event-detail.js";
import { EventList } from "./event-list.js";
import { tellNewest } from "./find-events.js";

/** Where the emulator serves the page, beside its own. */
const DASHBOARD = /\/_emulator\/inbox\/$/;

/** `#/?q=SEARCH&before=SEQ` is the list, `#/events/ID?q=…` an event of it. */
function InboxPage() {
  const { path, query } = useRoute();
  const live = useLiveInbox();
  const eventId = path[0] === "events" ? path[1] : undefined;
  const wasListShown = useListBehind(eventId !== undefined);
  const search = query.get("q") ?? "";
  const before = /^\d+$/.test(query.get("before") ?? "") ? Number(query.get("before")) : undefined;
  const { endpoints = [] } = live.overview ?? {};
  // What is shown is asked for once, when its revision is known.
  const isReady = live.overview !== undefined || !live.isConnected;
  const endpoint = endpoints[0]?.endpoint ?? "default";

  return (
    <PageFrame
      brand={endpoint === "default" || endpoints.length > 1 ? "Inbox" : `Inbox ${endpoint}`}
      alert={live.overview?.counts.dead ?? 0}
      now={live.now}
      version={live.version}
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
      {isReady && wasListShown && (
        <EventList search={search} before={before} overview={live.overview} open={eventId} />
      )}
      {isReady && eventId !== undefined && (
        <EventDetail
          key={eventId}
          eventId={eventId}
          overview={live.overview}
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

interface Live {
  /** The newest; undefined until the first. */
  overview: Overview | undefined;
  isConnected: boolean;
  /** Another number when events may have changed. */
  version: number;
  /** The present time, by the server's clock. */
  now: number;
}

/** The first live message comes earlier, unless a proxy holds it back. */
const LATE_MS = 1000;
/** How often ages are written anew. */
const TICK_MS = 5000;

/** Follows the inbox. */
function useLiveInbox(): Live {
  const [overview, setOverview] = useState<Overview>();
  const [isConnected, setConnected] = useState(true);
  const [now, setNow] = useState(() => Date.now());

  useEffect(() => {
    let skew = 0;
    const tick = (): void => setNow(Date.now() + skew);
    let newest = 0;
    const show = (next: Overview): void => {
      // The first answer can come after a live message that is newer.
      if (next.revision < newest) return;
      newest = next.revision;
      tellNewest(next.newest);
      setOverview(next);
      skew = next.now - Date.now();
      tick();
    };
    // Behind a proxy that holds back the live messages, this is all that the page gets.
    const ask = (): unknown =>
      request<Overview>("GET", "api/overview").then(show, () => setConnected(false));
    const asking = setTimeout(ask, LATE_MS);
    const stopFollowing = followLive<Overview>("api/live", {
      onMessage(next) {
        clearTimeout(asking);
        setConnected(true);
        show(next);
      },
      onEnd(wasLive) {
        if (wasLive) return;
        tellNewest();
        setConnected(false);
      },
    });
    const timer = setInterval(tick, TICK_MS);
    return () => {
      clearTimeout(asking);
      clearInterval(timer);
      stopFollowing();
    };
  }, []);

  return { overview, isConnected, version: overview?.revision ?? 0, now };
}

showPage(<InboxPage />);
