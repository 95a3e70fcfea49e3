import { useLayoutEffect, useRef } from "preact/hooks";
import { CodeBlock } from "../../../page/parts/code-block.js";

interface ShownOnceProps {
  label: string;
  secret: string;
  /** What the secret is for, and what the page keeps of it. */
  text: string;
  onClose: () => void;
}

/** A new secret, which the emulator does not show again. */
export function ShownOnce({ label, secret, text, onClose }: ShownOnceProps) {
  const region = useRef<HTMLElement>(null);
  useLayoutEffect(() => region.current?.focus(), []);
  return (
    <section ref={region} class="panel once" aria-label={`${label}, shown once`} tabIndex={-1}>
      <CodeBlock label={label} text={secret} wrap />
      <p>
        <strong>Copy it now. It is not shown again.</strong> {text}
      </p>
      <div class="toolbar">
        <button type="button" onClick={onClose}>
          I have stored it
        </button>
      </div>
    </section>
  );
}
