import { type ComponentChildren, createContext } from "preact";
import { useCallback, useContext, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Tone } from "./badge.js";

/** What happened, in words. A text alone is good news. */
export type Said = string | { text: string; tone: Tone };

/** What lives as long as the page. */
interface Root {
  /** Says what has happened, in a corner of the page, and to a screen reader. */
  notify: (said: Said) => void;
  /** Whether no view has appeared yet. */
  isFirstView: { current: boolean };
}

const RootContext = createContext<Root>({ notify: () => {}, isFirstView: { current: true } });

export const useRoot = (): Root => useContext(RootContext);

interface Notice {
  key: number;
  at: number;
  text: string;
  tone: Tone;
}

/** A notice of something that went wrong stays until the reader closes it. */
const SHOWN_MS = 5000;
const MOST_NOTICES = 3;
const ON_THE_WAY_MS = 1000;

/** Is around the whole page, and shows its notices. */
export function PageRoot({ children }: { children: ComponentChildren }) {
  const [notices, setNotices] = useState<readonly Notice[]>([]);
  const lastKey = useRef(0);
  const isFirstView = useRef(true);
  const close = useCallback(
    (key: number): void => setNotices((shown) => shown.filter((notice) => notice.key !== key)),
    [],
  );
  const notify = useCallback(
    (said: Said): void => {
      const key = (lastKey.current += 1);
      const notice = {
        key,
        at: Date.now(),
        tone: "good" as const,
        ...(typeof said === "string" ? { text: said } : said),
      };
      setNotices((shown) => [...shown, notice].slice(-MOST_NOTICES));
      if (notice.tone !== "bad") setTimeout(() => close(key), SHOWN_MS);
    },
    [close],
  );
  useEffect(() => {
    // What was said is of the view that was left, except what was said on the way to this one.
    const clear = (): void =>
      setNotices((shown) =>
        shown.filter(({ tone, at }) => tone === "bad" || Date.now() - at < ON_THE_WAY_MS),
      );
    addEventListener("hashchange", clear);
    return () => removeEventListener("hashchange", clear);
  }, []);
  const root = useMemo(() => ({ notify, isFirstView }), [notify]);
  return (
    <RootContext.Provider value={root}>
      {children}
      <div class="notices stack" role="status">
        {notices.map(({ key, text, tone }) => (
          <p key={key} class={`notice ${tone}`}>
            {text}
            <button
              type="button"
              class="plain"
              aria-label="Close this notice"
              onClick={() => close(key)}
            >
              ×
            </button>
          </p>
        ))}
      </div>
    </RootContext.Provider>
  );
}
