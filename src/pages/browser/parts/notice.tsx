import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Tone } from "./badge.js";

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
export function notify(text: string, tone: Tone = "good"): void {
  lastKey += 1;
  const key = lastKey;
  update([...notices, { key, text, tone }].slice(-MOST_NOTICES));
  if (tone !== "bad") setTimeout(() => close(key), SHOWN_MS);
}

function close(key: number): void {
  update(notices.filter((notice) => notice.key !== key));
}

function update(next: readonly Notice[]): void {
  notices = next;
  showNotices(next);
}

/** Where notices appear: once in a page. */
export function Notices(): JSX.Element {
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
