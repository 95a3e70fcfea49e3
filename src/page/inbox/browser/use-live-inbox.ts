import { useEffect, useState } from "preact/hooks";
import { followLive } from "../../parts/follow-live.js";
import { request } from "../../parts/request.js";
import type { Overview } from "../inbox-api.js";

export interface Live {
  /** The newest; undefined until the first. */
  overview: Overview | undefined;
  isConnected: boolean;
  /** Another number when events may have changed. */
  version: number;
  /** The present time, by the server's clock. */
  now: number;
}

/** How often ages are written anew. */
const TICK_MS = 5000;

/** Follows the inbox. */
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
    const stopFollowing = followLive<Overview>("api/live", {
      onMessage(next) {
        setConnected(true);
        show(next);
      },
      onEnd: (wasLive) => !wasLive && setConnected(false),
    });
    const timer = setInterval(tick, TICK_MS);
    return () => {
      clearInterval(timer);
      stopFollowing();
    };
  }, []);

  return { overview, isConnected, version: overview?.revision ?? 0, now };
}
