import { useEffect, useState } from "preact/hooks";
import type { Overview } from "../inbox-api.js";
import { request } from "../../parts/request.js";

export interface Live {
  /** The newest; undefined until the first. */
  overview: Overview | undefined;
  isConnected: boolean;
  /** Another number when events may have changed. */
  version: number;
  /** The present time, by the server's clock. */
  now: number;
}

const AGAIN_AT_ONCE_MS = 200;
const AGAIN_LATER_MS = 2000;
/** How often ages are written anew. */
const TICK_MS = 5000;

/** Follows the inbox. A lost connection is opened again; a page that nobody looks at holds none. */
export function useLiveInbox(): Live {
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
      setOverview(next);
      skew = next.now - Date.now();
      tick();
    };
    // Behind a proxy that holds back the live messages, this is all that the page gets.
    request<Overview>("GET", "api/overview").then(show, () => setConnected(false));
    const stopFollowing = followOverview(show, setConnected);
    const timer = setInterval(tick, TICK_MS);
    return () => {
      clearInterval(timer);
      stopFollowing();
    };
  }, []);

  return { overview, isConnected, version: overview?.revision ?? 0, now };
}

/** @returns a function that ends it */
function followOverview(
  show: (overview: Overview) => void,
  setConnected: (isConnected: boolean) => void,
): () => void {
  let source: EventSource | undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let wasLive = false;

  function close(): void {
    source?.close();
    clearTimeout(retry);
  }

  function open(): void {
    close();
    source = new EventSource("api/live");
    source.addEventListener("overview", ({ data }: MessageEvent<string>) => {
      // A stream that ends without a message is of a receiver that is closed.
      wasLive = true;
      setConnected(true);
      show(JSON.parse(data) as Overview);
    });
    source.addEventListener("error", () => {
      close();
      // The server ends each stream after some minutes, which is no loss. The browser itself does
      // not try again after a refusal.
      if (!wasLive) setConnected(false);
      retry = setTimeout(open, wasLive ? AGAIN_AT_ONCE_MS : AGAIN_LATER_MS);
      wasLive = false;
    });
  }

  const openIfSeen = (): void => (document.hidden ? close() : open());
  openIfSeen();
  document.addEventListener("visibilitychange", openIfSeen);
  return () => {
    document.removeEventListener("visibilitychange", openIfSeen);
    close();
  };
}
