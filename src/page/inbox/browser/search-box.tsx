import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Problem } from "../../parts/panel.js";
import { go } from "../../parts/use-route.js";

interface SearchBoxProps {
  search: string;
  /** Why the search could not be read. */
  problem: string | undefined;
  children: ComponentChildren;
}

/** The key / puts the focus here, and ? opens the help. */
export function SearchBox({ search, problem, children }: SearchBoxProps) {
  const input = useRef<HTMLInputElement>(null);
  const help = useRef<HTMLDetailsElement>(null);
  const [text, setText] = useState(search);
  useEffect(() => setText(search), [search]);

  useEffect(() => {
    const focus = (event: KeyboardEvent): void => {
      const isTyping = event.target instanceof Element && event.target.matches("input, dialog *");
      if (
        (event.key !== "/" && event.key !== "?") ||
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        isTyping
      )
        return;
      // It is hidden behind an event.
      if (input.current?.offsetParent === null) return;
      event.preventDefault();
      if (event.key === "?" && help.current !== null) help.current.open = !help.current.open;
      if (event.key === "?") return;
      input.current?.focus();
      input.current?.select();
    };
    addEventListener("keydown", focus);
    return () => removeEventListener("keydown", focus);
  }, []);

  function submit(event: Event): void {
    event.preventDefault();
    go([], { q: text.trim() });
  }

  return (
    <search>
      <form onSubmit={submit}>
        <div class="toolbar">
          <input
            ref={input}
            class="grows"
            type="search"
            aria-label="Search events"
            aria-describedby="search-hint"
            aria-invalid={problem !== undefined}
            placeholder="state:dead type:price_increased"
            spellcheck={false}
            autocomplete="off"
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
          <button class="primary">Search</button>
          {children}
          <details ref={help}>
            <summary class="hint">Help</summary>
            <p class="hint" id="search-hint">
              The beginning of an id, or <code>state:</code> <code>type:</code>{" "}
              <code>product:acme</code> <code>error:"timed out"</code> <code>after:2h</code>{" "}
              <code>before:2026-11-01</code> <code>endpoint:</code>, all of which must match. Keys:{" "}
              <kbd>/</kbd> search, <kbd>j</kbd> and <kbd>k</kbd> next and previous event,{" "}
              <kbd>x</kbd> select it, <kbd>Enter</kbd> open it, <kbd>?</kbd> this help.
            </p>
          </details>
        </div>
        <Problem of={problem} />
      </form>
    </search>
  );
}
