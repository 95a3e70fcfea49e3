import { useRoot } from "./page-root.js";
import { visibleLines } from "../../base/text/visible-text.js";

interface CodeBlockProps {
  text: string;
  /** What the text is, above it and for a screen reader. */
  label: string;
  /** Breaks long lines, instead of scrolling sideways. */
  wrap?: boolean;
}

/** A text of fixed width with a button that copies it as it is. */
export function CodeBlock({ text, label, wrap = false }: CodeBlockProps) {
  const { notify } = useRoot();

  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      notify("Copied.");
    } catch {
      notify({ text: "The browser did not allow the copy. Select the text instead.", tone: "bad" });
    }
  }

  return (
    <figure class="code">
      <figcaption>
        {label}
        <button
          type="button"
          class="plain"
          aria-label={`Copy: ${label}`}
          onClick={() => void copy()}
        >
          Copy
        </button>
      </figcaption>
      {/* It can scroll, so the keyboard must reach it. */}
      <pre class={wrap ? "wrap" : undefined} tabIndex={0} role="region" aria-label={label}>
        {visibleLines(text)}
      </pre>
    </figure>
  );
}
