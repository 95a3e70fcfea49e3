import { type ComponentChildren, createContext } from "preact";
import { useContext, useLayoutEffect, useRef } from "preact/hooks";
import { useRoot } from "./page-root.js";

/** What every part of a page knows. */
export interface PageFacts {
  /**
   * Stands before the title of the document, where the tab shows it. @default 0, which is not shown
   */
  alert?: number;
  /** The name of the page. */
  brand: string;
  /** The present time in milliseconds since 1970, by the clock of the server. */
  now: number;
}

const Page = createContext<PageFacts>({ brand: "", now: 0 });

export const usePage = (): PageFacts => useContext(Page);

interface PageFrameProps extends PageFacts {
  nav?: readonly { label: string; href: string; isCurrent: boolean }[];
  /** At the end of the head of the page, such as whether it is live. */
  aside?: ComponentChildren;
  children: ComponentChildren;
}

/** What is around every view: the head with its navigation, and the place of the view. */
export function PageFrame({ brand, alert = 0, now, nav, aside, children }: PageFrameProps) {
  const main = useRef<HTMLElement>(null);
  // Its address would be taken for a view, so it is not followed.
  const skip = (event: Event): void => {
    event.preventDefault();
    main.current?.focus();
  };
  return (
    <Page.Provider value={{ brand, alert, now }}>
      <header class="head">
        <a class="skip" href="#/" onClick={skip}>
          Skip to the content
        </a>
        <strong>{brand}</strong>
        {nav !== undefined && (
          <nav class="tabs" aria-label="Views">
            {nav.map(({ label, href, isCurrent }) => (
              <a key={href} href={href} aria-current={isCurrent ? "page" : undefined}>
                {label}
              </a>
            ))}
          </nav>
        )}
        <div class="aside">{aside}</div>
      </header>
      <main ref={main} tabIndex={-1}>
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
  useLayoutEffect(() => {
    if (!isHidden) document.title = `${alert > 0 ? `(${alert}) ` : ""}${title} · ${brand}`;
  });
  useLayoutEffect(() => {
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
