import { useEffect, useState } from "preact/hooks";
import type { Tone } from "./panel.js";

/** What happened, in words. A text alone is good news. */
export type Said = string | { text: string; tone: Tone };

interface Notice {
  key: number;
  text: string;
  tone: Tone;
}

/** A notice of something that went wrong stays until the reader closes it. */
const SHOWN_MS = 8000;
const MOST_NOTICES = 4;

let notices: readonly Notice[] = [];
let lastKey = 0;
let showNotices: (shown: readonly Notice[]) => void = () => {};

/** Says what has happened, in a corner of the page, and to a screen reader. */
export function notify(said: Said): void {
  const key = (lastKey += 1);
  const notice = { key, tone: "good" as const, ...(typeof said === "string" ? { text: said } : said) };
  update([...notices, notice].slice(-MOST_NOTICES));
  if (notice.tone !== "bad") setTimeout(() => close(key), SHOWN_MS);
}

function close(key: number): void {
  update(notices.filter((notice) => notice.key !== key));
}

function update(next: readonly Notice[]): void {
  notices = next;
  showNotices(next);
}

/** Where notices appear: once in a page. */
export function Notices() {
  const [shown, setShown] = useState(notices);
  useEffect(() => {
    showNotices = setShown;
    setShown(notices);
  }, []);
  return (
    <div class="notices stack" role="status">
      {shown.map(({ key, text, tone }) => (
        <p key={key} class={`notice ${tone}`}>
          {text}
          <button type="button" class="plain" aria-label="Close this notice" onClick={() => close(key)}>
            ×
          </button>
        </p>
      ))}
    </div>
  );
}
