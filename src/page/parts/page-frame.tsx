import {
  type ComponentChildren,
  createContext,
  Fragment,
  options,
  render,
  type VNode,
} from "preact";
import {
  useCallback,
  useContext,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "preact/hooks";
import { visible, visibleLines } from "../../base/text/visible-text.js";
import { chooseClock, clockChosen, shortTime } from "./clock-choice.js";

export type Tone = "good" | "bad" | "warn" | "idle" | "busy";

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

/** What went wrong, and what came of something long, stays until the reader closes it. */
const STAYING: ReadonlySet<Tone> = new Set(["bad", "idle"]);
const SHOWN_MS = 5000;
const MOST_NOTICES = 3;
const ON_THE_WAY_MS = 1000;

/** Texts that an element shows or speaks, besides its children. */
const SPOKEN = ["title", "aria-label"] as const;

/**
 * Shows the page. Whoever wrote a text, and wherever a page shows it, it is made safe to look at
 * here.
 */
export function showPage(page: ComponentChildren): void {
  options.vnode = ({ type, props }: VNode<Record<string, unknown>>): void => {
    if (typeof type !== "string" && type !== Fragment) return;
    const safe = (shown: unknown): unknown => {
      if (Array.isArray(shown)) return shown.map(safe);
      return typeof shown === "string" ? (type === "pre" ? visibleLines : visible)(shown) : shown;
    };
    props.children = safe(props.children) as typeof props.children;
    for (const name of SPOKEN) if (props[name] !== undefined) props[name] = safe(props[name]);
  };
  render(<PageRoot>{page}</PageRoot>, document.body);
}

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
      if (!STAYING.has(notice.tone)) setTimeout(() => close(key), SHOWN_MS);
    },
    [close],
  );
  useEffect(() => {
    // What was said is of the view that was left, except what was said on the way to this one.
    const clear = (): void =>
      setNotices((shown) =>
        shown.filter(({ tone, at }) => STAYING.has(tone) || Date.now() - at < ON_THE_WAY_MS),
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

/** What every part of a page knows. */
interface PageFacts {
  /**
   * Stands before the title of the document, where the tab shows it. @default 0, which is not shown
   */
  alert?: number;
  /** The name of the page. */
  brand: string;
  /** The present time in milliseconds since 1970, by the clock of the server. */
  now: number;
  /** The server does not answer: what is shown is of `now`. Undefined if the page does not follow it. */
  isLost?: boolean;
  /** Another number when what the server has may have changed. */
  version: number;
}

const Page = createContext<PageFacts>({ brand: "", now: 0, version: 0 });

export const usePage = (): PageFacts => useContext(Page);

interface PageFrameProps extends PageFacts {
  nav?:
    | readonly {
        label: string;
        href: string;
        isCurrent: boolean;
        tone?: Tone;
        note?: string | false;
      }[]
    | undefined;
  /** At the end of the head of the page, before the choice of a clock. */
  aside?: ComponentChildren;
  children: ComponentChildren;
}

/** What is around every view: the head with its navigation, and the place of the view. */
export function PageFrame({ nav, aside, children, ...facts }: PageFrameProps) {
  const main = useRef<HTMLElement>(null);
  const [clock, setClock] = useState(clockChosen);
  const { isLost, now } = facts;
  const otherClock = clock === "UTC" ? "local" : "UTC";
  // Each part that shows times asks for the facts of the page, so it is drawn anew.
  const change = (): void => {
    chooseClock(otherClock);
    setClock(otherClock);
  };
  // Its address would be taken for a view, so it is not followed.
  const skip = (event: Event): void => {
    event.preventDefault();
    main.current?.focus();
  };
  return (
    <Page.Provider value={facts}>
      <header class={isLost ? "head lost" : "head"}>
        <a class="skip" href="#/" onClick={skip}>
          Skip to the content
        </a>
        <strong>{facts.brand}</strong>
        {nav !== undefined && (
          <nav class="tabs" aria-label="Views">
            {nav.map(({ label, href, isCurrent, tone, note }) => (
              <a key={label} href={href} aria-current={isCurrent ? "page" : undefined}>
                {tone && <span class={`dot ${tone}`} />}
                {label}
                {note && <span class="muted"> {note}</span>}
              </a>
            ))}
          </nav>
        )}
        <div class="aside">
          {aside}
          <button
            type="button"
            class="plain"
            title={`Show times in ${otherClock} time`}
            onClick={change}
          >
            {clock} time
          </button>
          {isLost !== undefined && (
            <span role="status" class={`badge ${isLost ? "warn" : "good"}`}>
              {isLost ? `connection lost, as of ${shortTime(now, now)}` : "live"}
            </span>
          )}
        </div>
      </header>
      <main ref={main} tabIndex={-1} class={isLost ? "lost" : undefined}>
        {children}
      </main>
    </Page.Provider>
  );
}

interface ViewProps {
  /** The title of the document, before the name of the page. */
  title: string;
  /** @default the title */
  heading?: string;
  /** Above the heading, such as the way back. */
  above?: ComponentChildren;
  /** Beside the heading. */
  actions?: ComponentChildren;
  /** Has little room between its parts. */
  isDense?: boolean;
  /** Keeps the view as it is, behind another one, or beside it where there is room. */
  isHidden?: boolean;
  children: ComponentChildren;
}

/**
 * A view with its heading, which takes the focus when the view appears, except the first of the
 * page.
 */
export function View({
  title,
  heading = title,
  above,
  actions,
  isDense = false,
  isHidden = false,
  children,
}: ViewProps) {
  const { brand, alert = 0 } = usePage();
  const { isFirstView } = useRoot();
  const first = useRef<HTMLHeadingElement>(null);
  const wasHidden = useRef(isHidden);
  useLayoutEffect(() => {
    if (!isHidden) document.title = visible(`${alert > 0 ? `(${alert}) ` : ""}${title} · ${brand}`);
  });
  useLayoutEffect(() => {
    if (wasHidden.current) return;
    if (!isFirstView.current) first.current?.focus();
    isFirstView.current = false;
  }, [isFirstView]);
  return (
    <div class={["view", isDense && "dense", isHidden && "behind"].filter(Boolean).join(" ")}>
      {above}
      <div class="view-head">
        <h1 ref={first} tabIndex={-1}>
          {heading}
        </h1>
        {actions !== undefined && <div class="toolbar">{actions}</div>}
      </div>
      {children}
    </div>
  );
}

export const UnknownView = () => (
  <View title="There is no such view">
    <p>
      <a href="#/">To the first view</a>
    </p>
  </View>
);
