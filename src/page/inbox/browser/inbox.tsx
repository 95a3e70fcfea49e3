import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { formatCount } from "../../../base/text/format.js";
import {
  followLive,
  go,
  href,
  PageFrame,
  request,
  showPage,
  type Tone,
  UnknownView,
  useRoute,
} from "../../parts/index.js";
import type { Overview } from "../inbox-api.js";
import { EventDetail } from "./event-detail.js";
import { EventList } from "./event-list.js";
import { tellNewest, termIn, withTerm } from "./find-events.js";
import { useKeys } from "./search-box.js";
import { isPaused } from "./situation.js";

/** Where the emulator serves the page, beside its own. */
const DASHBOARD = /\/_emulator\/inbox\/$/;

/** `#/?q=SEARCH&before=SEQ` is the list, `#/events/ID?q=…` an event of it. */
function InboxPage() {
  const { path, query } = useRoute();
  const live = useLiveInbox();
  const eventId = path[0] === "events" ? path[1] : undefined;
  const isUnknown = path.length > 0 && eventId === undefined;
  useWayBack(eventId !== undefined);
  const search = query.get("q") ?? "";
  const before = /^\d+$/.test(query.get("before") ?? "") ? Number(query.get("before")) : undefined;
  const { endpoints = [] } = live.overview ?? {};
  // What is shown is asked for once, when its revision is known.
  const isReady = live.overview !== undefined || live.lostAt !== undefined;
  const endpoint = endpoints[0]?.endpoint ?? "default";
  const hasMany = endpoints.length > 1;
  const toList = { q: search, before, long: query.get("long") ?? undefined };
  useKeys(["Escape"], () => {
    if (eventId !== undefined) go([], toList);
    return eventId !== undefined;
  });

  return (
    <PageFrame
      brand={endpoint === "default" || hasMany ? "Inbox" : `Inbox ${endpoint}`}
      alert={live.overview?.counts.dead ?? 0}
      now={live.now}
      version={live.version}
      isLost={live.lostAt !== undefined}
      nav={hasMany ? tabsOf(endpoints, search) : undefined}
      aside={DASHBOARD.test(location.pathname) && <a href="../ui/">Dashboard</a>}
    >
      {isUnknown && <UnknownView />}
      {isReady && !isUnknown && (
        <EventList
          search={search}
          before={before}
          isLong={query.has("long")}
          overview={live.overview}
          open={eventId}
        />
      )}
      {isReady && eventId !== undefined && (
        <EventDetail
          key={eventId}
          eventId={eventId}
          overview={live.overview}
          back={href([], toList)}
        />
      )}
    </PageFrame>
  );
}

/** A tab for each endpoint, with a dot that says how it is. The other terms of the search stay. */
function tabsOf(endpoints: Overview["endpoints"], search: string) {
  const tab = (endpoint: string) => ({
    label: endpoint || "All",
    href: href([], { q: withTerm(search, "endpoint", endpoint) }),
    isCurrent: endpoint === termIn(search, "endpoint"),
  });
  return [
    tab(""),
    ...endpoints.map((row) => {
      const { dead, quarantined } = row.facts;
      const lost = (dead ?? 0) + (quarantined ?? 0);
      const tone: Tone = isPaused(row) ? "warn" : lost > 0 ? "bad" : "good";
      const note = isPaused(row) ? "paused" : lost > 0 && formatCount(lost);
      return { ...tab(row.endpoint), tone, note };
    }),
  ];
}

/**
 * The list stays behind an event, so that its selection, its scroll and its focus are there on the
 * way back.
 */
function useWayBack(isBehind: boolean): void {
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
}

interface Live {
  /** The newest; undefined until the first. */
  overview: Overview | undefined;
  /** Since when the server does not answer; undefined while it does. */
  lostAt: number | undefined;
  /** Another number when events may have changed. */
  version: number;
  /** The present time, by the server's clock. */
  now: number;
}

/** The first live message comes earlier, unless a proxy holds it back. */
const LATE_MS = 1000;
/** How often ages are written anew. */
const TICK_MS = 1000;

/** Follows the inbox. */
function useLiveInbox(): Live {
  const [overview, setOverview] = useState<Overview>();
  const [lostAt, setLostAt] = useState<number>();
  const [now, setNow] = useState(() => Date.now());

  useEffect(() => {
    let skew = 0;
    const tick = (): void => setNow(Date.now() + skew);
    const lose = (): void => setLostAt((since) => since ?? Date.now() + skew);
    let newest = 0;
    const show = (next: Overview): void => {
      // The first answer can come after a live message that is newer.
      if (next.revision < newest) return;
      newest = next.revision;
      setOverview(next);
      skew = next.now - Date.now();
      tick();
    };
    // Behind a proxy that holds back the live messages, this is all that the page gets.
    const asking = setTimeout(
      () => void request<Overview>("GET", "api/overview").then(show, lose),
      LATE_MS,
    );
    const stopFollowing = followLive<Overview>("api/live", {
      onMessage(next) {
        clearTimeout(asking);
        setLostAt(undefined);
        tellNewest(next.newest);
        show(next);
      },
      onEnd(wasLive) {
        if (wasLive) return;
        tellNewest();
        lose();
      },
    });
    const timer = setInterval(tick, TICK_MS);
    return () => {
      clearTimeout(asking);
      clearInterval(timer);
      stopFollowing();
    };
  }, []);

  return { overview, lostAt, version: overview?.revision ?? 0, now: lostAt ?? now };
}

showPage(<InboxPage />);
